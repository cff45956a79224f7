#include "exceptions.hpp"

#include <algorithm>
#include <initializer_list>

namespace holdfast::spec {

namespace json = boost::json;

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
    {0x57d4d49659450fb5, "upstream_2026_07", overload_while_connecting},
    {0xdfb3e55ad5d10e4e, "",
     "demands that a topology says nothing of its last change when it is closed, which the newer "
     "file of the same name demands"},
};

constexpr std::string_view overload = "SystemOverloadedError";

const json::value* at(const json::value& from, std::initializer_list<std::string_view> path)
{
    const json::value* now = &from;
    for (const std::string_view name : path) {
        const json::object* const fields = now->if_object();
        now = fields ? fields->if_contains(name) : nullptr;
        if (!now)
            return nullptr;
    }
    return now;
}

bool lists_overload(const json::value& operation, std::initializer_list<std::string_view> path)
{
    const json::value* const found = at(operation, path);
    const json::array* const labels = found ? found->if_array() : nullptr;
    return labels && std::ranges::find(*labels, json::value(overload)) != labels->end();
}

/// Whether a case of the unified format wants a label of an error that no fail point gives it: so
/// the driver has to, for whatever breaks before a command is sent.
bool wants_label_from_driver(const json::value& content)
{
    const json::value* const found = at(content, {"operations"});
    const json::array* const all = found ? found->if_array() : nullptr;
    const auto any = [&](std::initializer_list<std::string_view> path) {
        return std::ranges::any_of(
            *all, [&](const json::value& one) { return lists_overload(one, path); });
    };
    return all && any({"expectError", "errorLabelsContain"}) &&
           !any({"arguments", "failPoint", "data", "errorLabels"});
}

constexpr exception label_from_driver{0, "upstream_2026_07", overload_while_connecting};

}  // namespace

std::uint64_t fingerprint(const json::value& content)
{
    std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
    for (const char c : json::serialize(content))
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return hash;
}

const exception* exception_for(const json::value& content)
{
    const auto* const found = std::ranges::find(table, fingerprint(content), &exception::content);
    if (found != std::end(table))
        return found;
    return wants_label_from_driver(content) ? &label_from_driver : nullptr;
}

}  // namespace holdfast::spec
