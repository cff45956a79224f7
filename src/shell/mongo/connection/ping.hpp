#pragma once
#include "shell/mongo/connection/connection.hpp"

namespace holdfast::shell::mongo {

/// The smallest command there is: whether the server answers.
runtime::awaitable<result<void>> ping(connection& on);

}  // namespace holdfast::shell::mongo
