#pragma once
#include "holdfast/error.hpp"
#include "runtime/tls.hpp"

namespace holdfast::net {

/// TLS by OpenSSL, 1.2 at least, over any stream: it reads and writes through that stream alone, so
/// that one implementation serves sockets that block and sockets that do not.
result<runtime::tls_ptr> make_tls(const runtime::tls_options& options);

}  // namespace holdfast::net
