#pragma once
#include "holdfast/error.hpp"
#include "net/tls/openssl.hpp"
#include "net/tls/session_cache.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace holdfast::net {

enum class tls_side : std::uint8_t { client, server };

/// What an engine has done, or waits for.
enum class tls_step : std::uint8_t {
    done,
    needs_input,
    closed,  // the peer has sent close_notify
    failed,  // for ever: see tls_engine::failure()
};

/// What is learnt during a handshake and needed only if it fails.
struct handshake_notes {
    std::string host;      // whom the client wants
    std::string rejected;  // why the peer's certificate is not good enough; empty: it is
    int rejected_for = 0;  // the same as X509_V_ERR_...
    bool certificate_demanded = false;  // by the server
    bool certificate_given = false;
    std::uint8_t first_bytes[2] = {};  // that came from the peer
    std::size_t received = 0;
};

/// One end of a TLS connection, without I/O: ciphertext comes in by arrived() and waits in output()
/// to be sent. What SSL_read and SSL_write do with the two is the same over every stream.
///
/// Reading and writing may not run at the same time, save for the input: who reads may fill space()
/// while another writes.
class tls_engine {
public:
    static constexpr std::size_t max_plain = 64 * 1024;  // in one encrypt(), so output() is bounded
    static constexpr std::size_t input_size = 64 * 1024;
    static constexpr std::size_t max_output = 1024 * 1024;  // no honest peer makes us owe so much

    tls_engine(SSL_CTX& context, tls_side side);
    tls_engine(const tls_engine&) = delete;
    tls_engine& operator=(const tls_engine&) = delete;

    /// The peer's host: sent to the server (SNI), checked against its certificate if `check_name`,
    /// and the key of its sessions. False if there can be no such host.
    bool expect(std::string host, bool check_name);
    void resume_from(std::shared_ptr<session_cache> sessions, std::string server);

    tls_step shake_hands();
    tls_step decrypt(std::span<std::uint8_t> into, std::size_t& got);

    /// All of it, at most max_plain; false if the engine has failed.
    bool encrypt(std::span<const std::uint8_t> plain);

    /// Says that we send no more. Not after a failure: then the session must not be resumed.
    void close();

    std::span<const std::uint8_t> output() const noexcept;
    void gone(std::size_t bytes) noexcept;

    /// Where to put what comes from the peer; empty only if decrypt() has not been asked for long.
    std::span<std::uint8_t> space() noexcept;
    void arrived(std::size_t bytes) noexcept { input_end_ += bytes; }

    /// True if the stream ended inside a record: it was truncated.
    bool inside_record() const noexcept;

    bool resumed() const noexcept { return SSL_session_reused(ssl_.get()) == 1; }
    bool speaks_1_3() const noexcept { return SSL_version(ssl_.get()) >= TLS1_3_VERSION; }

    unsigned long cause() const noexcept { return cause_; }  // an error of OpenSSL's
    error_code failure() const;  // the same for a read or a write
    handshake_notes& notes() noexcept { return notes_; }

    /// What contexts have to call: sessions are kept, and demands for certificates noticed.
    static void install(SSL_CTX& context, tls_side side);

private:
    static int on_session(SSL* ssl, SSL_SESSION* offered);
    static int on_certificate_demand(SSL* ssl, void*);
    static int on_verify(int good, X509_STORE_CTX* chain);
    static int take_input(BIO* bio, char* into, std::size_t size, std::size_t* taken);
    static int add_output(BIO* bio, const char* from, std::size_t size, std::size_t* added);
    static const BIO_METHOD* pipe();

    tls_step after_failed_call(int returned);

    std::unique_ptr<std::uint8_t[]> input_;
    std::size_t input_begin_ = 0;
    std::size_t input_end_ = 0;
    std::vector<std::uint8_t> output_;
    std::size_t output_begin_ = 0;
    bool starved_ = true;  // OpenSSL has nothing to give until there is input
    bool failed_ = false;
    bool established_ = false;
    unsigned long cause_ = 0;
    handshake_notes notes_;
    std::shared_ptr<session_cache> sessions_;
    std::string sessions_of_;
    openssl_ptr<SSL> ssl_;  // the last member: it calls back while it goes
};

}  // namespace holdfast::net
