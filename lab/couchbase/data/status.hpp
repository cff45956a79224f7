#pragma once
#include "core/couchbase/wire/kv_protocol.hpp"

namespace holdfast::lab::couchbase {

using core::couchbase::kv_status;

}  // namespace holdfast::lab::couchbase
