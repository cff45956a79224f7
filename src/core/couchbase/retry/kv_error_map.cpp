#include "core/couchbase/retry/kv_error_map.hpp"

#include "core/couchbase/retry/json_text.hpp"
#include "holdfast/couchbase/errc.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <charconv>

namespace holdfast::core::couchbase {

namespace json = boost::json;
using holdfast::couchbase::errc;

namespace {

error not_a_map(std::string_view what)
{
    return error{errc::decoding_failure, std::string{"error map: "}.append(what)};
}

/// "7ff0": at most four digits, nothing else.
std::optional<kv_status> parse_status(std::string_view hex)
{
    std::uint16_t number = 0;
    const char* const end = hex.data() + hex.size();
    const auto [stopped, problem] = std::from_chars(hex.data(), end, number, 16);
    if (problem != std::errc{} || stopped != end)
        return std::nullopt;
    return static_cast<kv_status>(number);
}

void apply(error_map_entry& entry, std::string_view attribute)
{
    entry.retry_now = entry.retry_now || attribute == "retry-now";
    // What version 1 of the format says for both.
    entry.retry_later = entry.retry_later || attribute == "retry-later" ||
                        attribute == "auto-retry";
    entry.fetch_config = entry.fetch_config || attribute == "fetch-config";
    entry.connection_invalidated = entry.connection_invalidated ||
                                   attribute == "conn-state-invalidated";
}

result<error_map_entry> parse_entry(std::string_view key, const json::value& value)
{
    const json::string* const name = find_string(value, "name");
    const json::string* const description = find_string(value, "desc");
    const json::array* const attributes = find_array(value, "attrs");
    if (!name || !description || !attributes)
        return not_a_map(std::string{key} + " lacks a name, a desc or attrs");
    error_map_entry entry{.name{name->data(), name->size()},
                          .description{description->data(), description->size()}};
    for (const json::value& attribute : *attributes) {
        if (!attribute.is_string())
            return not_a_map(std::string{key} + " has an attribute that is no string");
        apply(entry, attribute.get_string());
    }
    return entry;
}

}  // namespace

result<kv_error_map> kv_error_map::parse(std::string_view text)
{
    auto parsed = parse_json(text);
    if (!parsed)
        return std::move(parsed).error();
    const std::int64_t* const version = find_integer(*parsed, "version");
    const std::int64_t* const revision = find_integer(*parsed, "revision");
    const json::object* const errors = find_object(*parsed, "errors");
    if (!version || !revision || !errors)
        return not_a_map("it lacks a version, a revision or errors");
    if (*version < 1 || *version > newest_version)
        return not_a_map("version " + std::to_string(*version) + " is not one we can read");

    kv_error_map map;
    map.version_ = static_cast<int>(*version);
    map.revision_ = *revision;
    for (const auto& [key, value] : *errors) {
        const auto status = parse_status(key);
        if (!status)
            return not_a_map("\"" + std::string{key} + "\" is no status");
        auto entry = parse_entry(key, value);
        if (!entry)
            return std::move(entry).error();
        map.entries_.insert_or_assign(*status, *std::move(entry));
    }
    return map;
}

const error_map_entry* kv_error_map::find(kv_status status) const
{
    const auto found = entries_.find(status);
    return found == entries_.end() ? nullptr : &found->second;
}

const kv_error_map& newer_of(const kv_error_map& a, const kv_error_map& b) noexcept
{
    return b.revision() > a.revision() ? b : a;
}

}  // namespace holdfast::core::couchbase
