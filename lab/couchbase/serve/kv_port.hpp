#pragma once
#include "lab/couchbase/kv/node.hpp"
#include "lab/serve/open_port.hpp"

#include <memory>

namespace holdfast::lab::couchbase {

/// The key-value port of a node, which outlives it. With `options.tls` it is the one for TLS.
result<std::unique_ptr<open_port>> open_kv_port(node& with, port_options options);

}  // namespace holdfast::lab::couchbase
