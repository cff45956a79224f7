#include "world/net_party.hpp"

#include <filesystem>
#include <iterator>

namespace holdfast::proof {

std::size_t open_descriptors()
{
    const std::filesystem::directory_iterator files{"/proc/self/fd"};
    return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

runtime::awaitable<stream_pair> connected(runtime::world& in, runtime::destination where)
{
    stream_pair both;
    auto door = in.listen(where);
    if (!door) {
        ADD_FAILURE() << door.error().explain();
        co_return both;
    }
    if (!where.is_path())
        where.port = (*door)->port();
    auto client = co_await in.connect(where, in.steady_now() + net_timeout);
    if (!client) {
        ADD_FAILURE() << client.error().explain();
        co_return both;
    }
    auto server = co_await (*door)->accept();
    if (!server) {
        ADD_FAILURE() << server.error().explain();
        co_return both;
    }
    both.client = *std::move(client);
    both.server = *std::move(server);
    co_return both;
}

runtime::awaitable<stream_pair> connected(runtime::world& in)
{
    return connected(in, {"127.0.0.1", 0});
}

std::span<const std::uint8_t> as_bytes(std::string_view text)
{
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

runtime::awaitable<text_or_error> read_once(runtime::stream& from)
{
    std::uint8_t buffer[1000];
    const auto got = co_await from.read_some(buffer);
    text_or_error all;
    all.text.assign(buffer, buffer + got.bytes);
    all.why = got.why;
    co_return all;
}

}  // namespace holdfast::proof
