#include "arguments.hpp"

#include "core/mongo/settings/address.hpp"
#include "holdfast/bson/builder.hpp"
#include "matching.hpp"

#include <algorithm>

namespace holdfast::spec::unified {

using std::chrono::milliseconds;

void fields::wrong(std::string_view name, std::string_view wanted) const
{
    throw case_failure{what_ + ": argument " + std::string{name} + " is not " +
                       std::string{wanted} + ", but " + shown(from_.find(name))};
}

bson::element fields::any(std::string_view name)
{
    const bson::element found = from_.find(name);
    known_.insert(name);
    return found;
}

bson::element fields::need(std::string_view name)
{
    const bson::element found = any(name);
    demand(static_cast<bool>(found), what_ + ": argument " + std::string{name} + " is missing");
    return found;
}

std::optional<bson::view> fields::document_if(std::string_view name)
{
    const bson::element found = any(name);
    if (!found)
        return {};
    if (found.type() != bson::type::document)
        wrong(name, "a document");
    return found.as_document();
}

bson::view fields::document(std::string_view name)
{
    (void)need(name);
    return *document_if(name);
}

std::optional<bson::array_view> fields::array_if(std::string_view name)
{
    const bson::element found = any(name);
    if (!found)
        return {};
    if (found.type() != bson::type::array)
        wrong(name, "an array");
    return found.as_array();
}

bson::array_view fields::array(std::string_view name)
{
    (void)need(name);
    return *array_if(name);
}

std::string_view fields::text_if(std::string_view name)
{
    const bson::element found = any(name);
    if (!found)
        return {};
    if (found.type() != bson::type::string)
        wrong(name, "a string");
    return found.as_string();
}

std::string_view fields::text(std::string_view name)
{
    (void)need(name);
    return text_if(name);
}

std::optional<bool> fields::flag(std::string_view name)
{
    const bson::element found = any(name);
    if (!found)
        return {};
    if (found.type() != bson::type::boolean)
        wrong(name, "true or false");
    return found.as_bool();
}

std::optional<std::int64_t> fields::number(std::string_view name)
{
    const bson::element found = any(name);
    if (!found)
        return {};
    const auto value = found.get<std::int64_t>();
    if (!value)
        wrong(name, "a whole number");
    return *value;
}

std::optional<std::int32_t> fields::small(std::string_view name)
{
    const bson::element found = any(name);
    if (!found)
        return {};
    const auto value = found.get<std::int32_t>();
    if (!value)
        wrong(name, "a small number");
    return *value;
}

std::optional<milliseconds> fields::ms(std::string_view name)
{
    const auto value = number(name);
    return value ? std::optional{milliseconds{*value}} : std::nullopt;
}

mongo::index_hint fields::hint(std::string_view name)
{
    const bson::element found = any(name);
    if (!found)
        return {};
    if (found.type() == bson::type::string)
        return found.as_string();
    if (found.type() != bson::type::document)
        wrong(name, "a name or keys");
    return found.as_document();
}

mongo::any_value fields::value(std::string_view name)
{
    const bson::element found = any(name);
    return found ? mongo::any_value{found} : mongo::any_value{};
}

mongo::update_view fields::update(std::string_view name)
{
    const bson::element found = need(name);
    if (found.type() == bson::type::array)
        return found.as_array();
    if (found.type() != bson::type::document)
        wrong(name, "a document or a pipeline");
    return found.as_document();
}

std::optional<mongo::write_concern> fields::write_concern()
{
    const auto found = document_if("writeConcern");
    if (!found)
        return {};
    fields said{*found, what_ + ": writeConcern"};
    mongo::write_concern made;
    const bson::element w = said.any("w");
    if (w && w.type() == bson::type::string)
        made.tag = w.as_string();
    else if (w)
        made.w = said.small("w");
    made.journal = said.flag("journal");
    made.wtimeout = said.ms("wtimeoutMS");
    said.finish();
    return made;
}

std::optional<mongo::read_concern> fields::read_concern()
{
    const auto found = document_if("readConcern");
    if (!found)
        return {};
    fields said{*found, what_ + ": readConcern"};
    mongo::read_concern made;
    made.level = said.text_if("level");
    said.finish();
    return made;
}

namespace {

struct named_mode {
    std::string_view name;
    mongo::read_mode mode;
};
constexpr named_mode modes[] = {
    {"primary", mongo::read_mode::primary},
    {"primaryPreferred", mongo::read_mode::primary_preferred},
    {"secondary", mongo::read_mode::secondary},
    {"secondaryPreferred", mongo::read_mode::secondary_preferred},
    {"nearest", mongo::read_mode::nearest},
};

/// Files write "Primary" in entities' options, where connection strings have "primary".
bool same_mode(std::string_view known, std::string_view written)
{
    using core::mongo::ascii_lower;
    return std::ranges::equal(known, written, {}, ascii_lower, ascii_lower);
}

}  // namespace

std::optional<mongo::read_preference> fields::read_preference()
{
    const auto found = document_if("readPreference");
    if (!found)
        return {};
    fields said{*found, what_ + ": readPreference"};
    mongo::read_preference made;
    const std::string_view wanted = said.text("mode");
    const auto* const mode = std::ranges::find_if(
        modes, [&](const named_mode& one) { return same_mode(one.name, wanted); });
    demand(mode != std::end(modes), "no such read preference: " + std::string{wanted});
    made.mode = mode->mode;
    made.tag_sets = said.array_if("tagSets");
    if (const auto seconds = said.number("maxStalenessSeconds"))
        made.max_staleness = std::chrono::seconds{*seconds};
    said.finish();
    return made;
}

bson::document fields::rest()
{
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    for (const bson::element& one : from_) {
        if (known_.insert(one.key()).second)
            out.copy(one);
    }
    out.finish().value();
    return bson::document::adopt(std::move(bytes));
}

void fields::finish() const
{
    for (const bson::element& one : from_)
        demand(known_.contains(one.key()),
               what_ + ": argument " + std::string{one.key()} + " is not known");
}

const mongo::session* arguments::session()
{
    const std::string_view id = text_if("session");
    return id.empty() ? nullptr : &session_named(*in_, id).api;
}

mongo::cursor_kind cursor_kind_named(std::string_view name)
{
    if (name.empty() || name == "nonTailable")
        return mongo::cursor_kind::plain;
    if (name == "tailable")
        return mongo::cursor_kind::tailable;
    demand(name == "tailableAwait", "no such type of cursor: " + std::string{name});
    return mongo::cursor_kind::tailable_await;
}

mongo::return_document return_document_named(std::string_view name)
{
    if (name == "Before")
        return mongo::return_document::before;
    demand(name == "After", "returnDocument is neither Before nor After: " + std::string{name});
    return mongo::return_document::after;
}

}  // namespace holdfast::spec::unified
