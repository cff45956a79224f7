#pragma once
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>

namespace holdfast::net {

struct openssl_free {
    void operator()(SSL* what) const noexcept { SSL_free(what); }
    void operator()(SSL_CTX* what) const noexcept { SSL_CTX_free(what); }
    void operator()(SSL_SESSION* what) const noexcept { SSL_SESSION_free(what); }
    void operator()(BIO* what) const noexcept { BIO_free(what); }
    void operator()(X509* what) const noexcept { X509_free(what); }
    void operator()(EVP_PKEY* what) const noexcept { EVP_PKEY_free(what); }
    void operator()(GENERAL_NAMES* what) const noexcept { GENERAL_NAMES_free(what); }
};

/// Owns an object of OpenSSL's.
template <class T>
using openssl_ptr = std::unique_ptr<T, openssl_free>;

}  // namespace holdfast::net
