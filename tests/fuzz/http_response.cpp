// Whatever a server sends for a reply: heads, lengths, chunks with extensions and trailers. Bytes
// that arrive in pieces give the same reply as bytes that arrive at once.
#include "require.hpp"
#include "shell/http/errc.hpp"
#include "support/read_replies.hpp"

#include <cstdint>
#include <string>

namespace {

using namespace holdfast;

constexpr shell::http::response_limits limits{1024, 2048};
constexpr std::uint64_t longest_body = 4096;

/// All that came over a connection, up to a reply that is refused or that ends it.
std::vector<proof::read_reply> read_all(std::string_view bytes, std::size_t piece)
{
    shell::http::response_reader reader{limits};
    proof::reply_feed feed{bytes, {piece}, true};
    std::vector<proof::read_reply> all;
    do {
        all.push_back(proof::read_one(reader, feed, longest_body));
        REQUIRE(all.back().body.size() <= longest_body);
        REQUIRE(all.back().ended != all.back().why.failed());
    } while (all.back().keeps_alive && all.size() < 8);
    return all;
}

/// Whether the two came to the same. What is wrong may be noticed sooner in pieces.
bool agree(const proof::read_reply& a, const proof::read_reply& b)
{
    if (a.why || b.why) {
        const bool longer_limit = a.why == shell::http::errc::head_too_long ||
                                  b.why == shell::http::errc::head_too_long;
        return longer_limit || a.why.failed() == b.why.failed();
    }
    return a.status == b.status && a.body == b.body && a.content_type == b.content_type;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0)
        return 0;
    const std::string_view bytes{reinterpret_cast<const char*>(data) + 1, size - 1};
    const auto whole = read_all(bytes, limits.buffer);
    const auto in_pieces = read_all(bytes, 1 + data[0] % 16);
    REQUIRE(agree(whole.front(), in_pieces.front()));
    return 0;
}
