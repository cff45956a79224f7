#include "exceptions.hpp"

#include <algorithm>

namespace holdfast::spec {
namespace {

constexpr std::string_view overload_while_connecting =
    "demands that a network error while connecting is taken for overload, and leaves server and "
    "pool as they are, which the specification of the default profile forbids";

/// The one table of exceptions. What was applied is printed after the count.
constexpr exception table[] = {
    {0xfd71bb7b71e94e2c, "upstream_2026_07",
     "demands that a time-out while connecting leaves the server known, which the specification "
     "of the default profile forbids"},
    {0x8bd9b80e94a2458a, "upstream_2026_07",
     "demands that keys for MONGODB-AWS are refused in a connection string, where two older cases "
     "of the same file demand that they are taken"},
    {0xd4efbd672eea0a1e, "upstream_2026_07", overload_while_connecting},
    {0x05bdba03eb422e96, "upstream_2026_07", overload_while_connecting},
    {0x0233c45e872c6204, "upstream_2026_07", overload_while_connecting},
    {0x57d4d49659450fb5, "upstream_2026_07", overload_while_connecting},
    {0xdfb3e55ad5d10e4e, "",
     "demands that a topology says nothing of its last change when it is closed, which the newer "
     "file of the same name demands"},
};

}  // namespace

std::uint64_t fingerprint(const boost::json::value& content)
{
    std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
    for (const char c : boost::json::serialize(content))
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return hash;
}

const exception* exception_for(const boost::json::value& content)
{
    const auto* const found = std::ranges::find(table, fingerprint(content), &exception::content);
    return found == std::end(table) ? nullptr : found;
}

}  // namespace holdfast::spec
