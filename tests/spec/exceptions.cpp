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

const json::array* list_at(const json::value& from, std::initializer_list<std::string_view> path)
{
    const json::value* const found = at(from, path);
    return found ? found->if_array() : nullptr;
}

bool lists(const json::value& from, std::initializer_list<std::string_view> path,
           std::string_view text)
{
    const json::array* const all = list_at(from, path);
    return all && std::ranges::find(*all, json::value(text)) != all->end();
}

bool is_true(const json::value& from, std::initializer_list<std::string_view> path)
{
    const json::value* const found = at(from, path);
    return found && found->is_bool() && found->get_bool();
}

bool is_zero(const json::value& from, std::initializer_list<std::string_view> path)
{
    const json::value* const found = at(from, path);
    return found && *found == json::value(0);
}

/// Whether a case of the unified format wants a label of an error that no fail point gives it: so
/// the driver has to, for whatever breaks before a command is sent.
bool wants_label_from_driver(const json::value& content)
{
    const json::array* const all = list_at(content, {"operations"});
    const auto any = [&](std::initializer_list<std::string_view> path) {
        return std::ranges::any_of(
            *all, [&](const json::value& one) { return lists(one, path, overload); });
    };
    return all && any({"expectError", "errorLabelsContain"}) &&
           !any({"arguments", "failPoint", "data", "errorLabels"});
}

/// An operation by which the handshakes of new connections lose their connection.
bool breaks_hello(const json::value& operation)
{
    return lists(operation, {"arguments", "failPoint", "data", "failCommands"}, "hello") &&
           is_true(operation, {"arguments", "failPoint", "data", "closeConnection"});
}

/// One that makes a client that fills its pool, and reports if the pool is cleared.
bool fills_watched_pool(const json::value& operation)
{
    const json::array* const entities = list_at(operation, {"arguments", "entities"});
    return entities && std::ranges::any_of(*entities, [](const json::value& one) {
               return at(one, {"client", "uriOptions", "minPoolSize"}) &&
                      !is_zero(one, {"client", "uriOptions", "minPoolSize"}) &&
                      lists(one, {"client", "observeEvents"}, "poolClearedEvent");
           });
}

/// One that waits for a cleared pool, or counts it.
bool wants_clear(const json::value& operation)
{
    return at(operation, {"arguments", "event", "poolClearedEvent"}) &&
           !is_zero(operation, {"arguments", "count"});
}

bool wants_no_clear(const json::value& operation)
{
    return at(operation, {"arguments", "event", "poolClearedEvent"}) &&
           is_zero(operation, {"arguments", "count"});
}

/// All events of a pool, without one that it was cleared.
bool lists_no_clear(const json::value& expected)
{
    const json::value* const type = at(expected, {"eventType"});
    const json::array* const events = list_at(expected, {"events"});
    return type && *type == json::value("cmap") && events &&
           !is_true(expected, {"ignoreExtraEvents"}) &&
           std::ranges::none_of(*events, [](const json::value& one) {
               return at(one, {"poolClearedEvent"}) != nullptr;
           });
}

/// Whether a case of the unified format wants a pool to be kept as it is when connections that fill
/// it break in their handshake.
bool wants_pool_kept(const json::value& content)
{
    const json::array* const all = list_at(content, {"operations"});
    if (!all || std::ranges::none_of(*all, breaks_hello) ||
        std::ranges::none_of(*all, fills_watched_pool) || std::ranges::any_of(*all, wants_clear))
        return false;
    const json::array* const expected = list_at(content, {"expectEvents"});
    return std::ranges::any_of(*all, wants_no_clear) ||
           (expected && std::ranges::any_of(*expected, lists_no_clear));
}

constexpr exception newer_rule{0, "upstream_2026_07", overload_while_connecting};

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
    const bool newer = wants_label_from_driver(content) || wants_pool_kept(content);
    return newer ? &newer_rule : nullptr;
}

}  // namespace holdfast::spec
