#include "lab/couchbase/http/request_reader.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

// The one file that names Beast, as a parser of bytes that were read by others.
namespace holdfast::lab::couchbase {

namespace {

namespace beast = boost::beast::http;

using beast_parser = beast::request_parser<beast::string_body>;

std::string header_of(const beast_parser::value_type& from, beast::field name)
{
    const auto found = from.find(name);
    return found == from.end() ? std::string{} : std::string{found->value()};
}

int status_of(const boost::system::error_code& why)
{
    if (why == beast::error::body_limit)
        return 413;
    const bool long_head = why == beast::error::header_limit ||
                           why == beast::error::buffer_overflow || why == beast::error::need_more;
    return long_head ? 431 : 400;
}

}  // namespace

struct request_reader::state {
    explicit state(http_limits with) : limits{with}, bytes(initial_size) { restart(); }

    void restart()
    {
        parser.emplace();
        parser->eager(true);
        parser->header_limit(static_cast<std::uint32_t>(limits.head));
        parser->body_limit(limits.body);
    }
    std::optional<http_request> take();

    static constexpr std::size_t initial_size = 4096;

    http_limits limits;
    std::vector<std::uint8_t> bytes;
    std::size_t begin = 0;  // of what was not parsed
    std::size_t end = 0;    // of what was received
    std::optional<beast_parser> parser;
};

std::optional<http_request> request_reader::state::take()
{
    beast_parser::value_type parsed = parser->release();
    restart();
    http_request made;
    made.keep_alive = parsed.keep_alive();
    made.method = std::string{parsed.method_string()};
    made.authorization = header_of(parsed, beast::field::authorization);
    made.content_type = header_of(parsed, beast::field::content_type);
    made.body = std::move(parsed.body());
    const std::string target{parsed.target()};
    const std::size_t mark = std::min(target.find('?'), target.size());
    made.path = target.substr(0, mark);
    made.query = target.substr(std::min(mark + 1, target.size()));
    auto parts = split_path(made.path);
    if (!parts || !made.path.starts_with('/'))
        return std::nullopt;
    made.parts = *std::move(parts);
    return made;
}

request_reader::request_reader(http_limits limits) : state_{std::make_unique<state>(limits)} {}
request_reader::~request_reader() = default;

std::span<std::uint8_t> request_reader::writable()
{
    state& in = *state_;
    if (in.begin != 0) {
        std::copy(in.bytes.begin() + static_cast<std::ptrdiff_t>(in.begin),
                  in.bytes.begin() + static_cast<std::ptrdiff_t>(in.end), in.bytes.begin());
        in.end -= std::exchange(in.begin, 0);
    }
    if (in.end == in.bytes.size())
        in.bytes.resize(in.bytes.size() * 2);
    return std::span{in.bytes}.subspan(in.end);
}

void request_reader::received(std::size_t count) noexcept
{
    state_->end += count;
}

next_request request_reader::next()
{
    state& in = *state_;
    while (in.begin != in.end) {
        boost::system::error_code why;
        const auto rest = boost::asio::buffer(in.bytes.data() + in.begin, in.end - in.begin);
        const std::size_t used = in.parser->put(rest, why);
        in.begin += used;
        if (why == beast::error::need_more && in.end - in.begin <= in.limits.head)
            break;
        if (why)
            return refused_request{status_of(why)};
        if (in.parser->is_done()) {
            auto made = in.take();
            if (!made)
                return refused_request{400};
            return *std::move(made);
        }
        if (used == 0)
            break;
    }
    return needs_bytes{};
}

}  // namespace holdfast::lab::couchbase
