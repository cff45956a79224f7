#include "net/tls/engine.hpp"

#include "net/tls/failure.hpp"

#include <boost/asio/ip/address.hpp>
#include <openssl/err.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>
#include <utility>

namespace holdfast::net {
namespace {

tls_engine& engine_of(const SSL* ssl)
{
    return *static_cast<tls_engine*>(SSL_get_app_data(ssl));
}

/// OpenSSL keeps errors per thread, and those of other code would be taken for ours. Looking first
/// is a tenth of the work.
void forget_errors() noexcept
{
    if (ERR_peek_error() != 0)
        ERR_clear_error();
}

/// Flush is the one request that must be granted; there is nothing to do for it.
long control(BIO*, int request, long, void*)
{
    return request == BIO_CTRL_FLUSH ? 1 : 0;
}

/// True if the certificate will be asked for this address.
bool expect_address(SSL& ssl, const std::string& name, bool check)
{
    boost::system::error_code not_one;
    const auto address = boost::asio::ip::make_address(name, not_one);
    if (not_one)
        return false;
    X509_VERIFY_PARAM* const wanted = SSL_get0_param(&ssl);
    if (!check)
        return true;
    if (address.is_v4()) {
        const auto bytes = address.to_v4().to_bytes();
        return X509_VERIFY_PARAM_set1_ip(wanted, bytes.data(), bytes.size()) == 1;
    }
    const auto bytes = address.to_v6().to_bytes();
    return X509_VERIFY_PARAM_set1_ip(wanted, bytes.data(), bytes.size()) == 1;
}

}  // namespace

tls_engine::tls_engine(SSL_CTX& context, tls_side side)
    : input_{std::make_unique_for_overwrite<std::uint8_t[]>(input_size)}, ssl_{SSL_new(&context)}
{
    BIO* const bio = BIO_new(pipe());
    if (!ssl_ || bio == nullptr) {
        BIO_free(bio);
        throw std::bad_alloc{};
    }
    BIO_set_data(bio, this);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl_.get(), bio, bio);
    SSL_set_app_data(ssl_.get(), this);
    SSL_set_read_ahead(ssl_.get(), 1);  // a record by one call, not by one for its header too
    notes_.certificate_given = SSL_get_certificate(ssl_.get()) != nullptr;
    if (side == tls_side::client)
        SSL_set_connect_state(ssl_.get());
    else
        SSL_set_accept_state(ssl_.get());
}

bool tls_engine::expect(std::string host, bool check_name)
{
    std::string name = host;
    if (name.ends_with('.'))
        name.pop_back();  // "db." is the same host as "db", but no certificate says so
    notes_.host = std::move(host);
    // An empty name would check nothing, and one with a dot in front would match a whole domain.
    if (check_name && (name.empty() || name.front() == '.'))
        return false;
    X509_VERIFY_PARAM* const wanted = SSL_get0_param(ssl_.get());
    X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    if (expect_address(*ssl_, name, check_name))
        return true;
    if (check_name && X509_VERIFY_PARAM_set1_host(wanted, name.data(), name.size()) != 1)
        return false;
    const bool is_path = name.find('/') != std::string::npos;
    return name.empty() || is_path || SSL_set_tlsext_host_name(ssl_.get(), name.c_str()) == 1;
}

void tls_engine::resume_from(std::shared_ptr<session_cache> sessions, std::string server)
{
    sessions_ = std::move(sessions);
    sessions_of_ = std::move(server);
    if (const auto known = sessions_->take(sessions_of_))
        SSL_set_session(ssl_.get(), known.get());
}

tls_step tls_engine::shake_hands()
{
    if (failed_)
        return tls_step::failed;
    forget_errors();
    if (const int returned = SSL_do_handshake(ssl_.get()); returned != 1)
        return after_failed_call(returned);
    established_ = true;
    starved_ = input_begin_ == input_end_ && SSL_has_pending(ssl_.get()) == 0;
    return tls_step::done;
}

tls_step tls_engine::decrypt(std::span<std::uint8_t> into, std::size_t& got)
{
    got = 0;
    if (failed_)
        return tls_step::failed;
    if (starved_ && input_begin_ == input_end_)
        return tls_step::needs_input;
    // One call gives one record at most; a large reply has many.
    do {
        std::size_t more = 0;
        forget_errors();
        const auto rest = into.subspan(got);
        const int returned = SSL_read_ex(ssl_.get(), rest.data(), rest.size(), &more);
        if (returned != 1) {
            const tls_step why = after_failed_call(returned);
            return got > 0 ? tls_step::done : why;
        }
        got += more;
        starved_ = input_begin_ == input_end_ && SSL_has_pending(ssl_.get()) == 0;
    } while (!starved_ && got < into.size());
    return tls_step::done;
}

bool tls_engine::encrypt(std::span<const std::uint8_t> plain)
{
    assert(!plain.empty() && plain.size() <= max_plain);
    if (failed_)
        return false;
    std::size_t written = 0;
    forget_errors();
    const int returned = SSL_write_ex(ssl_.get(), plain.data(), plain.size(), &written);
    if (returned == 1)
        return true;
    // The output takes everything and there is no renegotiation: it can wait for nothing.
    after_failed_call(returned);
    failed_ = true;
    return false;
}

void tls_engine::close()
{
    if (!established_ || failed_)
        return;
    forget_errors();
    SSL_shutdown(ssl_.get());
    forget_errors();
}

tls_step tls_engine::after_failed_call(int returned)
{
    const int kind = SSL_get_error(ssl_.get(), returned);
    if (kind == SSL_ERROR_WANT_READ) {
        starved_ = true;
        return tls_step::needs_input;
    }
    if (kind == SSL_ERROR_ZERO_RETURN && established_) {
        starved_ = false;  // it will say so again
        return tls_step::closed;
    }
    failed_ = true;
    // The earliest one is the cause; but what SSL itself says is closer to it than a file's error.
    while (const unsigned long next = ERR_get_error()) {
        if (cause_ == 0 || (ERR_GET_LIB(cause_) != ERR_LIB_SSL && ERR_GET_LIB(next) == ERR_LIB_SSL))
            cause_ = next;
    }
    return tls_step::failed;
}

std::span<const std::uint8_t> tls_engine::output() const noexcept
{
    return std::span{output_}.subspan(output_begin_);
}

void tls_engine::gone(std::size_t bytes) noexcept
{
    output_begin_ += bytes;
    if (output_begin_ == output_.size()) {
        output_.clear();
        output_begin_ = 0;
    }
}

std::span<std::uint8_t> tls_engine::space() noexcept
{
    assert(input_begin_ == input_end_);  // OpenSSL takes all before it asks for more
    input_begin_ = input_end_ = 0;
    return {input_.get(), input_size};
}

bool tls_engine::inside_record() const noexcept
{
    const bool header_read = SSL_rstate_string(ssl_.get())[1] == 'B';  // "RB": reading a body
    return header_read || SSL_has_pending(ssl_.get()) == 1;
}

error_code tls_engine::failure() const
{
    return tls_error_code(cause_);
}

void tls_engine::install(SSL_CTX& context, tls_side side)
{
    if (side == tls_side::client) {
        SSL_CTX_sess_set_new_cb(&context, &on_session);
        SSL_CTX_set_cert_cb(&context, &on_certificate_demand, nullptr);
    }
    SSL_CTX_set_verify(&context, SSL_CTX_get_verify_mode(&context), &on_verify);
}

int tls_engine::on_session(SSL* ssl, SSL_SESSION* offered)
{
    tls_engine& self = engine_of(ssl);
    if (!self.sessions_ || SSL_SESSION_is_resumable(offered) == 0)
        return 0;
    openssl_ptr<SSL_SESSION> kept{offered};  // ours, if we return 1
    try {
        self.sessions_->put(self.sessions_of_, std::move(kept));
    } catch (const std::bad_alloc&) {
    }
    return 1;
}

int tls_engine::on_certificate_demand(SSL* ssl, void*)
{
    engine_of(ssl).notes_.certificate_demanded = true;
    return 1;
}

int tls_engine::on_verify(int good, X509_STORE_CTX* chain)
{
    if (good == 1)
        return 1;
    const auto* const ssl = static_cast<const SSL*>(
        X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx()));
    handshake_notes& notes = engine_of(ssl).notes_;
    notes.rejected_for = X509_STORE_CTX_get_error(chain);
    try {
        notes.rejected = describe_rejection(*chain, notes.host);
    } catch (const std::bad_alloc&) {
    }
    return 0;
}

int tls_engine::take_input(BIO* bio, char* into, std::size_t size, std::size_t* taken)
{
    auto& self = *static_cast<tls_engine*>(BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    *taken = std::min(size, self.input_end_ - self.input_begin_);
    if (*taken == 0) {
        BIO_set_retry_read(bio);
        return 0;
    }
    std::memcpy(into, self.input_.get() + self.input_begin_, *taken);
    self.input_begin_ += *taken;
    return 1;
}

int tls_engine::add_output(BIO* bio, const char* from, std::size_t size, std::size_t* added)
{
    auto& self = *static_cast<tls_engine*>(BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    *added = 0;
    if (self.output_.size() + size > max_output)
        return 0;
    try {
        const auto* const bytes = reinterpret_cast<const std::uint8_t*>(from);
        self.output_.insert(self.output_.end(), bytes, bytes + size);
    } catch (const std::bad_alloc&) {
        return 0;
    }
    *added = size;
    return 1;
}

const BIO_METHOD* tls_engine::pipe()
{
    static const BIO_METHOD* const method = [] {
        BIO_METHOD* const made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "engine");
        if (made != nullptr) {
            BIO_meth_set_read_ex(made, &take_input);
            BIO_meth_set_write_ex(made, &add_output);
            BIO_meth_set_ctrl(made, &control);
        }
        return made;
    }();
    return method;
}

}  // namespace holdfast::net
