#include "shell/http/response_reader.hpp"

#include "shell/http/errc.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

// The one file of the library that names Beast, as a parser of bytes that were read by others.
namespace holdfast::shell::http {

namespace {

namespace beast = boost::beast::http;
using beast_text = boost::beast::string_view;

/// The shortest rest of a body in chunks: "0\r\n\r\n". Beast counts on that many bytes where a
/// chunk begins, once it has seen the size of the last one.
constexpr std::size_t shortest_chunk = 5;

std::string as_string(beast_text text)
{
    return {text.data(), text.size()};
}

/// What Beast finds, kept for the step that it belongs to.
class reply_parser final : public beast::basic_parser<false> {
public:
    response_head head = {};
    body_piece piece = {};
    const char* unsupported = nullptr;

    /// Whether the next bytes are the head of a chunk, or what follows the last one.
    bool at_chunk() const { return in_body_ && chunked() && chunk_left_ == 0; }

private:
    void on_request_impl(beast::verb, beast_text, beast_text, int, error_code&) override {}
    void on_response_impl(int status, beast_text, int, error_code& why) override
    {
        if (status < 100 || status > 599)
            why = beast::error::bad_status;
        head.status = status;
    }
    void on_field_impl(beast::field name, beast_text, beast_text value, error_code& why) override
    {
        if (in_body_)
            return;  // a trailer
        if (name == beast::field::content_type)
            head.content_type = as_string(value);
        else if (name == beast::field::location)
            head.location = as_string(value);
        else if (name == beast::field::transfer_encoding &&
                 !boost::beast::iequals(value, "chunked"))
            refuse("a transfer coding other than \"chunked\"", why);
        else if (name == beast::field::content_encoding &&
                 !boost::beast::iequals(value, "identity"))
            refuse("a compressed body", why);
    }
    void on_header_impl(error_code& why) override
    {
        if (head.status == 101)
            refuse("another protocol", why);
        if (const auto length = content_length())
            head.content_length = *length;
        in_body_ = true;
    }
    void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
    std::size_t on_body_impl(beast_text body, error_code&) override { return take(body); }
    void on_chunk_header_impl(std::uint64_t size, beast_text, error_code&) override
    {
        chunk_left_ = size;
    }
    std::size_t on_chunk_body_impl(std::uint64_t left, beast_text body, error_code&) override
    {
        chunk_left_ = left - body.size();
        return take(body);
    }
    void on_finish_impl(error_code&) override {}

    std::size_t take(beast_text body)
    {
        piece = {reinterpret_cast<const std::uint8_t*>(body.data()), body.size()};
        return body.size();
    }
    void refuse(const char* what, error_code& why)
    {
        unsupported = what;
        why = errc::not_supported;
    }

    bool in_body_ = false;
    std::uint64_t chunk_left_ = 0;
};

}  // namespace

struct response_reader::state {
    explicit state(response_limits with) : limits{with} { assert(limits.head <= limits.buffer); }

    void restart(std::optional<std::uint64_t> body_limit);
    void restart_parser();
    result<reply_step> next();
    std::optional<result<reply_step>> put();
    result<reply_step> finish_by_close();
    error problem(const error_code& why) const;

    std::size_t pending() const noexcept { return end - begin; }
    bool needs_more() const
    {
        return pending() < (parser->at_chunk() ? shortest_chunk : std::size_t{1});
    }

    const response_limits limits;
    std::unique_ptr<std::uint8_t[]> bytes;  // from the first read on
    std::size_t begin = 0;                  // of what was not parsed
    std::size_t end = 0;                    // of what was received
    std::optional<std::uint64_t> body_limit;
    std::optional<reply_parser> parser;
    std::size_t head_bytes = 0;
    std::uint64_t offset = 0;
    bool begun = false;
    bool announced = false;  // head_read was given
    bool closed = false;     // by the peer
    bool failed = false;
};

void response_reader::state::restart(std::optional<std::uint64_t> longest)
{
    body_limit = longest;
    head_bytes = 0;
    offset = 0;
    begun = pending() != 0;
    announced = failed = false;
    restart_parser();
}

void response_reader::state::restart_parser()
{
    parser.emplace();
    parser->eager(false);
    parser->header_limit(static_cast<std::uint32_t>(limits.head));
    if (body_limit)
        parser->body_limit(*body_limit);
    else
        parser->body_limit(boost::none);
}

error response_reader::state::problem(const error_code& why) const
{
    const auto made = [&](errc code, std::string message) {
        return error{code, std::move(message)}.with_context("offset", std::to_string(offset));
    };
    if (why == errc::not_supported)
        return made(errc::not_supported,
                    std::string{"the reply uses what was not asked for: "} + parser->unsupported);
    if (why == beast::error::header_limit || why == beast::error::buffer_overflow)
        return made(errc::head_too_long, "the head of the reply is longer than " +
                                             std::to_string(limits.head) + " bytes");
    if (why == beast::error::body_limit)
        return made(errc::body_too_long, "the body of the reply is longer than " +
                                             std::to_string(body_limit.value_or(0)) + " bytes");
    if (why == beast::error::need_more)
        return made(errc::malformed_reply, "a line in the body of the reply is longer than " +
                                               std::to_string(limits.buffer) + " bytes");
    return made(errc::malformed_reply, "the reply is not HTTP: " + why.message());
}

/// The peer has closed the connection, and what it has sent is used up, or is no whole element.
result<reply_step> response_reader::state::finish_by_close()
{
    error_code why;
    if (begun && pending() == 0 && parser->is_header_done())
        parser->put_eof(why);
    else
        why = beast::error::partial_message;
    if (!why)
        return reply_step{reply_end{}};
    failed = true;
    return error{errc::cut_off, begun ? "the connection was closed before the end of the reply"
                                      : "the connection was closed before the reply"};
}

/// One element of the reply; nothing if it is none that the caller has to see.
std::optional<result<reply_step>> response_reader::state::put()
{
    error_code why;
    const bool in_head = !parser->is_header_done();
    const std::size_t used = parser->put(boost::asio::const_buffer{bytes.get() + begin, pending()},
                                         why);
    begin += used;
    offset += used;
    if (in_head) {
        head_bytes += used;
        // Beast limits only what it sees at one time.
        if (head_bytes + (why == beast::error::need_more ? pending() : 0) > limits.head)
            why = beast::error::header_limit;
    }
    if (why == beast::error::need_more && pending() < limits.buffer) {
        if (closed)
            return finish_by_close();
        return result<reply_step>{needs_bytes{}};
    }
    if (why) {
        failed = true;
        return result<reply_step>{problem(why)};
    }
    if (in_head && parser->is_header_done() && parser->head.status < 200)
        restart_parser();
    return std::nullopt;
}

result<reply_step> response_reader::state::next()
{
    assert(parser && !failed);
    for (;;) {
        if (parser->is_header_done() && !std::exchange(announced, true))
            return reply_step{head_read{}};
        if (const body_piece piece = std::exchange(parser->piece, {}); !piece.empty())
            return reply_step{piece};
        if (parser->is_done())
            return reply_step{reply_end{}};
        if (needs_more()) {
            if (closed)
                return finish_by_close();
            return reply_step{needs_bytes{}};
        }
        if (auto step = put())
            return *std::move(step);
    }
}

response_reader::response_reader(response_limits limits) : state_{std::make_unique<state>(limits)}
{
    state_->restart(std::nullopt);
}

response_reader::~response_reader() = default;

void response_reader::restart(std::optional<std::uint64_t> body_limit)
{
    state_->restart(body_limit);
}

std::span<std::uint8_t> response_reader::writable()
{
    state& in = *state_;
    if (!in.bytes)
        in.bytes = std::make_unique_for_overwrite<std::uint8_t[]>(in.limits.buffer);
    if (in.begin != 0) {
        std::memmove(in.bytes.get(), in.bytes.get() + in.begin, in.pending());
        in.end -= std::exchange(in.begin, 0);
    }
    return {in.bytes.get() + in.end, in.limits.buffer - in.end};
}

void response_reader::received(std::size_t count) noexcept
{
    state_->end += count;
    state_->begun = state_->begun || count != 0;
}

void response_reader::peer_closed() noexcept
{
    state_->closed = true;
}

result<reply_step> response_reader::next()
{
    return state_->next();
}

const response_head& response_reader::head() const noexcept
{
    return state_->parser->head;
}

bool response_reader::has_begun() const noexcept
{
    return state_->begun;
}

bool response_reader::keeps_alive() const noexcept
{
    const state& in = *state_;
    return !in.failed && !in.closed && in.pending() == 0 && in.parser->is_done() &&
           in.parser->keep_alive();
}

}  // namespace holdfast::shell::http
