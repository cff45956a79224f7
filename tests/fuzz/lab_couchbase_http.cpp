// Whatever is sent to the management port of the lab: requests, forms, logins, faults in JSON.
// Bytes that arrive in pieces give the same requests as bytes that arrive at once; what is wrong
// with a head may be noticed later, and one at the limit is too long in pieces only.
#include "lab/couchbase/http/request_reader.hpp"
#include "lab/couchbase/mgmt/fault_json.hpp"
#include "require.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace holdfast::lab::couchbase;

/// What came out of a connection: each request, and the status of a refusal at its end.
struct outcome {
    std::vector<std::string> requests = {};
    int refused = 0;
};

outcome read_in_pieces(const std::uint8_t* data, std::size_t size, std::size_t piece)
{
    constexpr http_limits limits{1024, 4096};
    request_reader reader{limits};
    outcome made;
    for (std::size_t at = 0; at < size && made.refused == 0; at += piece) {
        std::size_t rest = std::min(piece, size - at);
        const std::uint8_t* from = data + at;
        while (rest != 0) {
            const auto free = reader.writable();
            const std::size_t count = std::min(free.size(), rest);
            std::copy_n(from, count, free.begin());
            reader.received(count);
            from += count;
            rest -= count;
        }
        for (;;) {
            next_request next = reader.next();
            if (const auto* const one = std::get_if<http_request>(&next)) {
                REQUIRE(one->body.size() <= limits.body);
                made.requests.push_back(one->method + " " + one->path + "?" + one->query + "\n" +
                                        one->body);
            } else {
                if (const auto* const refused = std::get_if<refused_request>(&next))
                    made.refused = refused->status;
                break;
            }
        }
    }
    return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0)
        return 0;
    const outcome in_pieces = read_in_pieces(data, size, 1 + data[0] % 16);
    const outcome whole = read_in_pieces(data, size, size);
    const std::size_t common = std::min(in_pieces.requests.size(), whole.requests.size());
    REQUIRE(std::equal(whole.requests.begin(), whole.requests.begin() + static_cast<long>(common),
                       in_pieces.requests.begin()));
    if (in_pieces.refused == 0 && whole.refused == 0)
        REQUIRE(in_pieces.requests.size() == whole.requests.size());

    const std::string text{reinterpret_cast<const char*>(data), size};
    (void)read_form(text);
    (void)read_basic_login("Basic " + text);
    (void)read_fault(text);
    return 0;
}
