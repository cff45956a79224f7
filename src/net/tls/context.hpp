#pragma once
#include "holdfast/error.hpp"
#include "net/tls/openssl.hpp"
#include "runtime/tls.hpp"

namespace holdfast::net {

/// All that the connections of one tls_layer share.
struct tls_contexts {
    openssl_ptr<SSL_CTX> client;
    openssl_ptr<SSL_CTX> server;  // null without a certificate
};

/// Reads the files. An error says which one, and what is wrong with it.
result<tls_contexts> make_contexts(const runtime::tls_options& options);

}  // namespace holdfast::net
