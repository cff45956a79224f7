#pragma once
#include "holdfast/mongo/session.hpp"

namespace holdfast::spec::unified {

/// Whether a session will not be used again by the client: nothing that applications can ask, but
/// the format has an operation for it.
bool is_dirty(const mongo::session& which);

}  // namespace holdfast::spec::unified
