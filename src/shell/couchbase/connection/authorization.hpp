#pragma once
#include "holdfast/secret.hpp"
#include "shell/couchbase/connection/connection_config.hpp"

namespace holdfast::shell::couchbase {

/// The value of the header by which a login proves itself to HTTP services; empty if it does so by
/// a certificate.
secret authorization_of(const login& with);

}  // namespace holdfast::shell::couchbase
