#pragma once
#include "lab/couchbase/http/http_service.hpp"
#include "lab/serve/open_port.hpp"

#include <memory>

namespace holdfast::lab::couchbase {

/// A port for HTTP/1.1; the service outlives it.
result<std::unique_ptr<open_port>> open_http_port(runtime::world& in, http_service& with,
                                                  port_options options);

}  // namespace holdfast::lab::couchbase
