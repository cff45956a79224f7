#pragma once
#include "holdfast/error.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>

namespace holdfast::shell::http {

struct response_limits {
    /// Of a reply with those of interim replies before it.
    std::size_t head = std::size_t{64} * 1024;
    /// What is read at a time, and the longest line or trailer within a body; not below `head`.
    std::size_t buffer = std::size_t{64} * 1024;
};

/// The head of a reply, as far as it is used.
struct response_head {
    int status = 0;
    std::string content_type = {};
    std::string location = {};
    std::optional<std::uint64_t> content_length = {};
};

// What comes next out of the bytes of a connection.
struct needs_bytes {};
struct head_read {};
using body_piece = std::span<const std::uint8_t>;  // valid until writable() or next() is called
struct reply_end {};
using reply_step = std::variant<needs_bytes, head_read, body_piece, reply_end>;

/// Takes replies of HTTP/1.1 out of the bytes of a connection, one after the other: with
/// Content-Length, in chunks, or up to the end of the connection. It does no input by itself.
/// Interim replies (1xx) are skipped; extensions and trailers of chunks are read and dropped.
/// Replies to HEAD are none that it can read.
class response_reader {
public:
    explicit response_reader(response_limits limits = {});
    response_reader(const response_reader&) = delete;
    response_reader& operator=(const response_reader&) = delete;
    ~response_reader();

    /// The next reply begins; `body_limit` is in bytes, none: it may have any length.
    void restart(std::optional<std::uint64_t> body_limit);

    /// Where bytes may be put; never empty, unless next() has failed.
    std::span<std::uint8_t> writable();
    void received(std::size_t count) noexcept;
    /// The peer will send no more.
    void peer_closed() noexcept;

    /// The step after the last one. After an error, and after reply_end, there is none before
    /// restart(). A body without bytes has no piece.
    result<reply_step> next();

    /// Valid from head_read to restart().
    const response_head& head() const noexcept;
    /// Whether anything of the reply has come.
    bool has_begun() const noexcept;
    /// After reply_end: whether the connection can be used for another exchange. Not, if it is to
    /// be closed, or has sent bytes that were not asked for.
    bool keeps_alive() const noexcept;

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace holdfast::shell::http
