#include "lab/mongo/set/address.hpp"

#include "lab/mongo/document/server_code.hpp"

#include <charconv>
#include <string>

namespace holdfast::lab::mongo {

result<runtime::destination> read_address(std::string_view text)
{
    const auto wrong = [&] {
        return refuse(server_code::failed_to_parse, "no address of a member: " + std::string{text});
    };
    runtime::destination made{"", 27017};
    std::string_view port;
    if (text.starts_with('[')) {
        const std::size_t end = text.find(']');
        if (end == std::string_view::npos)
            return wrong();
        made.host = text.substr(1, end - 1);
        port = text.substr(end + 1);
    } else {
        const std::size_t colon = text.rfind(':');
        made.host = text.substr(0, colon);
        port = colon == std::string_view::npos ? std::string_view{} : text.substr(colon);
    }
    if (made.host.empty())
        return wrong();
    if (port.empty())
        return made;
    const auto [end, why] = std::from_chars(port.data() + 1, port.data() + port.size(), made.port);
    if (port[0] != ':' || why != std::errc{} || end != port.data() + port.size() || made.port == 0)
        return wrong();
    return made;
}

}  // namespace holdfast::lab::mongo
