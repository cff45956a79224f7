// Whatever a name server sends, what is read from it are hosts and texts, or nothing.
#include "net/dns/answer.hpp"
#include "net/dns/names.hpp"
#include "require.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace holdfast;
    const std::span<const std::uint8_t> message{data, size};
    if (const auto services = net::read_srv(message)) {
        for (const auto& service : *services) {
            REQUIRE(net::is_host_name(service.host));
            REQUIRE(service.host == net::in_lower_case(service.host));
            REQUIRE(service.ttl <= 0x7fff'ffff);
        }
        REQUIRE(services->size() <= size);
    }
    if (const auto texts = net::read_txt(message)) {
        std::size_t length = 0;
        for (const auto& text : *texts)
            length += text.size();
        REQUIRE(length <= size);
    }
    return 0;
}
