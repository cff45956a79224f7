#include "net/tls/context.hpp"

#include "net/tls/engine.hpp"
#include "runtime/errc.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace holdfast::net {
namespace {

using runtime::errc;
using runtime::tls_options;

constexpr std::size_t largest_text = 16 * 1024 * 1024;
constexpr const char* too_large = "it is larger than 16 MB";
constexpr const char* ca_file = "CA file";
constexpr const char* certificate_file = "file of certificate and key";

error bad_file(const char* what, const std::string& path, const std::string& cause)
{
    error why{errc::invalid_tls_options,
              std::string{"the "} + what + ' ' + path + " cannot be used: " + cause};
    return std::move(why)
        .with_context("phase", runtime::phase_tls)
        .with_context("file", path)
        .with_context("cause", cause);
}

/// The bytes of a file, which may hold a key; or why it could not be read.
std::optional<std::string> read_file(const std::string& path, secret& into)
{
    constexpr std::size_t piece = 16 * 1024;
    struct close_file {
        void operator()(std::FILE* file) const noexcept { std::fclose(file); }
    };
    const std::unique_ptr<std::FILE, close_file> file{std::fopen(path.c_str(), "rb")};
    if (!file)
        return std::generic_category().message(errno);
    std::setvbuf(file.get(), nullptr, _IONBF, 0);  // no second copy
    std::vector<char> text;
    text.reserve(4 * piece);  // mostly it never moves, and leaves no copy behind
    std::size_t size = 0;
    for (std::size_t got = piece; got != 0 && size <= largest_text; size += got) {
        text.resize(size + piece);
        got = std::fread(text.data() + size, 1, piece, file.get());
    }
    text.resize(size);
    into = secret{std::move(text)};
    if (size > largest_text)
        return too_large;
    if (std::ferror(file.get()) != 0)
        return std::generic_category().message(errno);
    return std::nullopt;
}

openssl_ptr<BIO> open_text(std::string_view text)
{
    return openssl_ptr<BIO>{BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))};
}

/// Why there are none, or not all, or nothing.
std::optional<std::string> read_certificates(std::string_view text,
                                             std::vector<openssl_ptr<X509>>& into)
{
    const auto from = open_text(text);
    ERR_clear_error();
    while (X509* const next = PEM_read_bio_X509_AUX(from.get(), nullptr, nullptr, nullptr))
        into.emplace_back(next);
    const unsigned long end = ERR_peek_last_error();
    if (ERR_GET_LIB(end) != ERR_LIB_PEM || ERR_GET_REASON(end) != PEM_R_NO_START_LINE)
        return "certificate " + std::to_string(into.size() + 1) + " in it is damaged";
    if (into.empty())
        return "it holds no certificate in PEM";
    return std::nullopt;
}

/// Lets OpenSSL have the password. Without one it would ask at the terminal.
struct password_source {
    const std::optional<secret>& password;
    bool asked = false;

    static int give(char* into, int size, int, void* self_pointer)
    {
        auto& self = *static_cast<password_source*>(self_pointer);
        self.asked = true;
        if (!self.password || self.password->view().size() > static_cast<std::size_t>(size))
            return -1;
        return static_cast<int>(self.password->view().copy(into, static_cast<std::size_t>(size)));
    }
};

const char* last_reason()
{
    const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
    return reason != nullptr ? reason : "OpenSSL gave no reason";
}

/// A certificate with its chain, and its key.
struct identity {
    std::vector<openssl_ptr<X509>> chain;  // our own first
    openssl_ptr<EVP_PKEY> key;
};

result<identity> read_identity(const std::string& path, const std::optional<secret>& password)
{
    secret text;
    if (const auto why = read_file(path, text))
        return bad_file(certificate_file, path, *why);
    identity found;
    if (const auto why = read_certificates(text.view(), found.chain))
        return bad_file(certificate_file, path, *why);
    password_source source{password};
    const auto from = open_text(text.view());
    found.key.reset(PEM_read_bio_PrivateKey(from.get(), nullptr, &password_source::give, &source));
    if (found.key)
        return found;
    if (!source.asked) {
        return bad_file(certificate_file, path,
                        "it holds no private key in PEM; append the key to the certificate");
    }
    return bad_file(certificate_file, path,
                    password ? "the password does not open its private key"
                             : "its private key is encrypted, and no password was given");
}

/// Why it does not go, or nothing.
std::optional<std::string> use_identity(SSL_CTX& context, const identity& mine)
{
    // Checked before OpenSSL does, which reports a mismatch unclearly, or drops the certificate.
    if (X509_check_private_key(mine.chain.front().get(), mine.key.get()) != 1)
        return "its private key does not belong to its certificate; the certificate must be the "
               "first in the file";
    if (SSL_CTX_use_certificate(&context, mine.chain.front().get()) != 1)
        return std::string{"its certificate: "} + last_reason();
    for (std::size_t i = 1; i < mine.chain.size(); ++i) {
        if (SSL_CTX_add1_chain_cert(&context, mine.chain[i].get()) != 1)
            return std::string{"its chain of certificates: "} + last_reason();
    }
    if (SSL_CTX_use_PrivateKey(&context, mine.key.get()) != 1)
        return std::string{"its private key: "} + last_reason();
    return std::nullopt;
}

openssl_ptr<SSL_CTX> new_context(tls_side side)
{
    const bool client = side == tls_side::client;
    openssl_ptr<SSL_CTX> made{SSL_CTX_new(client ? TLS_client_method() : TLS_server_method())};
    if (!made)
        throw std::bad_alloc{};
    // The system's own configuration may ask for more, and gets it.
    if (SSL_CTX_get_min_proto_version(made.get()) < TLS1_2_VERSION)
        SSL_CTX_set_min_proto_version(made.get(), TLS1_2_VERSION);
    SSL_CTX_set_options(made.get(), SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
    if (client) {
        SSL_CTX_set_session_cache_mode(made.get(),
                                       SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    } else {
        constexpr unsigned char name[] = "holdfast";  // sessions with client certificates need one
        SSL_CTX_set_session_id_context(made.get(), name, sizeof name);
        SSL_CTX_set_session_cache_mode(made.get(), SSL_SESS_CACHE_OFF);  // tickets need none
    }
    return made;
}

error bad_text(const std::string& cause)
{
    error why{errc::invalid_tls_options, "the text of CA certificates cannot be used: " + cause};
    return std::move(why).with_context("phase", runtime::phase_tls).with_context("cause", cause);
}

/// CAs in PEM, for both sides; a server also says which CAs its clients may come from. Gives why
/// they cannot be used, or nothing.
std::optional<std::string> trust(const tls_contexts& contexts, std::string_view text)
{
    std::vector<openssl_ptr<X509>> trusted;
    if (auto why = read_certificates(text, trusted))
        return why;
    X509_STORE* const store = SSL_CTX_get_cert_store(contexts.client.get());
    for (const auto& ca : trusted) {
        if (X509_STORE_add_cert(store, ca.get()) != 1)
            return last_reason();
        if (contexts.server)
            SSL_CTX_add_client_CA(contexts.server.get(), ca.get());
    }
    if (contexts.server)
        SSL_CTX_set1_cert_store(contexts.server.get(), store);
    return std::nullopt;
}

std::optional<error> trust_all(const tls_contexts& contexts, const tls_options& options)
{
    const bool has_own = options.ca_file || options.ca_text;
    if (options.ca_file) {
        secret text;
        auto why = read_file(*options.ca_file, text);
        if (!why)
            why = trust(contexts, text.view());
        if (why)
            return bad_file(ca_file, *options.ca_file, *why);
    }
    if (options.ca_text) {
        const bool is_large = options.ca_text->size() > largest_text;
        const auto why = is_large ? too_large : trust(contexts, *options.ca_text);
        if (why)
            return bad_text(*why);
    }
    if (options.verify_peer && (!has_own || options.with_system_cas))
        SSL_CTX_set_default_verify_paths(contexts.client.get());
    return std::nullopt;
}

}  // namespace

result<tls_contexts> make_contexts(const tls_options& options)
{
    ERR_clear_error();
    struct clear_later {
        ~clear_later() { ERR_clear_error(); }
    } const clear;
    tls_contexts made;
    made.client = new_context(tls_side::client);
    if (options.certificate_key_file) {
        const std::string& path = *options.certificate_key_file;
        auto mine = read_identity(path, options.certificate_key_password);
        if (!mine)
            return std::move(mine).error();
        made.server = new_context(tls_side::server);
        for (SSL_CTX* const context : {made.client.get(), made.server.get()}) {
            if (const auto why = use_identity(*context, *mine))
                return bad_file(certificate_file, path, *why);
        }
    }
    if (auto why = trust_all(made, options))
        return std::move(*why);
    if (options.verify_peer)
        SSL_CTX_set_verify(made.client.get(), SSL_VERIFY_PEER, nullptr);
    tls_engine::install(*made.client, tls_side::client);
    if (made.server) {
        // A server with a CA demands certificates of its clients.
        if (options.verify_peer && (options.ca_file || options.ca_text)) {
            SSL_CTX_set_verify(made.server.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                               nullptr);
        }
        tls_engine::install(*made.server, tls_side::server);
    }
    return made;
}

}  // namespace holdfast::net
