#include "matching.hpp"

#include "holdfast/bson/json.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace holdfast::spec::unified {
namespace {

using bson::element;
using bson::type;

constexpr std::size_t longest_shown = 600;

bool is_number(const element& e)
{
    return e.type() == type::int32 || e.type() == type::int64 || e.type() == type::double_;
}

std::int64_t whole(const element& e)
{
    return e.type() == type::int32 ? e.as_int32() : e.as_int64();
}

/// Less than, equal or greater; exact as long as one of them is whole and not beyond 2^53.
std::partial_ordering order(const element& a, const element& b)
{
    if (a.type() != type::double_ && b.type() != type::double_)
        return whole(a) <=> whole(b);
    const auto as_double = [](const element& e) {
        return e.type() == type::double_ ? e.as_double() : static_cast<double>(whole(e));
    };
    return as_double(a) <=> as_double(b);
}

struct type_name {
    std::string_view name;
    type is;
};
constexpr type_name type_names[] = {
    {"double", type::double_},
    {"string", type::string},
    {"object", type::document},
    {"array", type::array},
    {"binData", type::binary},
    {"undefined", type::undefined},
    {"objectId", type::object_id},
    {"bool", type::boolean},
    {"date", type::datetime},
    {"null", type::null},
    {"regex", type::regex},
    {"dbPointer", type::db_pointer},
    {"javascript", type::code},
    {"symbol", type::symbol},
    {"int", type::int32},
    {"timestamp", type::timestamp},
    {"long", type::int64},
    {"decimal", type::decimal128},
    {"minKey", type::min_key},
    {"maxKey", type::max_key},
    {"javascriptWithScope", type::code_with_scope},
};

bool is_of_type(const element& found, const element& name)
{
    demand(name.type() == type::string, "$$type takes names of types, not " + shown(name));
    if (name.as_string() == "number")
        return is_number(found) || found.type() == type::decimal128;
    const auto* const known = std::ranges::find(type_names, name.as_string(), &type_name::name);
    demand(known != std::end(type_names), "$$type does not know " + std::string{name.as_string()});
    return found.type() == known->is;
}

bool is_of_some_type(const element& found, const element& names)
{
    if (names.type() != type::array)
        return is_of_type(found, names);
    return std::ranges::any_of(names.as_array(),
                               [&](const element& name) { return is_of_type(found, name); });
}

/// A document whose only key is an operator.
bool is_special(bson::view fields)
{
    const auto first = fields.begin();
    return first != fields.end() && first->key().starts_with("$$") &&
           std::next(first) == fields.end();
}

}  // namespace

std::string shown(bson::view value)
{
    auto text = bson::to_json(value);
    std::string message = text ? *std::move(text) : "a malformed document";
    if (message.size() > longest_shown)
        message.replace(longest_shown, std::string::npos, "...");
    return message;
}

std::string shown(const element& value)
{
    if (!value)
        return "nothing";
    if (value.type() == type::document)
        return shown(value.as_document());
    const std::string wrapped = shown(bson::doc("", value));  // {"":value}
    return wrapped.ends_with("...") ? wrapped.substr(4) : wrapped.substr(4, wrapped.size() - 5);
}

struct matcher::place {
    std::string path;
    bool root = false;       // more keys than expected are no difference
    bool operators = true;   // "$$" is special
    bool in_list = false;    // of a result: its documents are root ones

    place inside(std::string_view key, bool is_root = false) const
    {
        return {path.empty() ? std::string{key} : path + "." + std::string{key}, is_root,
                operators};
    }
    difference differs(const std::string& text) const
    {
        return path.empty() ? text : path + ": " + text;
    }
    difference differs(const std::string& expected, const element& found) const
    {
        return differs("expected " + expected + ", found " + shown(found));
    }
};

difference matcher::compare(const element& expected, const element& found) const
{
    return value(expected, found, {.path = {}, .root = true});
}

difference matcher::compare_root(bson::view expected, bson::view found) const
{
    const bson::document both = bson::doc("e", expected, "f", found);
    return compare(both["e"], both["f"]);
}

difference matcher::compare_result(const element& expected, const element& found) const
{
    return value(expected, found, {.path = {}, .root = true, .in_list = true});
}

difference matcher::value(const element& expected, const element& found, const place& at) const
{
    if (expected.type() == type::document) {
        const bson::view fields = expected.as_document();
        if (at.operators && is_special(fields))
            return special(*fields.begin(), found, at);
        if (found.type() != type::document)
            return at.differs(shown(expected), found);
        return document(fields, found.as_document(), at);
    }
    if (expected.type() == type::array) {
        if (found.type() != type::array)
            return at.differs(shown(expected), found);
        return array(expected.as_array(), found.as_array(), at);
    }
    const bool same = is_number(expected) && is_number(found)
                          ? std::is_eq(order(expected, found))
                          : expected.type() == found.type() &&
                                std::ranges::equal(expected.value_bytes(), found.value_bytes());
    return same ? difference{} : at.differs(shown(expected), found);
}

difference matcher::document(bson::view expected, bson::view found, const place& at) const
{
    for (const element& field : expected)
        if (auto wrong = value(field, found.find(field.key()), at.inside(field.key())))
            return wrong;
    if (at.root)
        return {};
    for (const element& field : found)
        if (!expected.find(field.key()))
            return at.inside(field.key()).differs("nothing", field);
    return {};
}

difference matcher::array(bson::array_view expected, bson::array_view found, const place& at) const
{
    if (expected.count() != found.count())
        return at.differs("expected " + std::to_string(expected.count()) + " values, found " +
                          std::to_string(found.count()) + ": " + shown(found.as_document()));
    auto other = found.begin();
    std::size_t index = 0;
    for (const element& each : expected) {
        const bool root = at.in_list && each.type() == type::document;
        if (auto wrong = value(each, *other, at.inside(std::to_string(index), root)))
            return wrong;
        ++other;
        ++index;
    }
    return {};
}

difference matcher::special(const element& op, const element& found, const place& at) const
{
    const std::string_view name = op.key();
    if (name == "$$exists") {
        demand(op.type() == type::boolean, "$$exists takes true or false");
        const bool as_wished = op.as_bool() == static_cast<bool>(found);
        return as_wished ? difference{} : at.differs(op.as_bool() ? "any value" : "nothing", found);
    }
    if (name == "$$unsetOrMatches")
        return found ? value(op, found, at) : difference{};
    if (name == "$$type")
        return is_of_some_type(found, op) ? difference{}
                                          : at.differs("a value of type " + shown(op), found);
    if (name == "$$matchesEntity")
        return entity_value(op, found, at);
    if (name == "$$sessionLsid")
        return session_id(op, found, at);
    if (name == "$$matchesHexBytes") {
        demand(op.type() == type::string, "$$matchesHexBytes takes a string");
        const auto bytes = bytes_from_hex(op.as_string());
        const bool same = found.type() == type::binary &&
                          std::ranges::equal(found.as_binary().bytes, bytes);
        return same ? difference{} : at.differs("the bytes " + shown(op), found);
    }
    if (name == "$$lte") {
        demand(is_number(op), "$$lte takes a number");
        const bool holds = is_number(found) && std::is_lteq(order(found, op));
        return holds ? difference{} : at.differs("at most " + shown(op), found);
    }
    if (name == "$$matchAsDocument")
        return text_as_document(op, found, at);
    if (name == "$$matchAsRoot") {
        place as_root = at;
        as_root.root = true;
        return value(op, found, as_root);
    }
    throw case_failure{"the runner does not know this operator: " + std::string{name}};
}

difference matcher::entity_value(const element& id, const element& found, const place& at) const
{
    demand(id.type() == type::string, "$$matchesEntity takes the name of an entity");
    const bson::document kept = named_->value_of(id.as_string());
    place plainly = at;
    plainly.operators = false;
    return value(kept["v"], found, plainly);
}

difference matcher::session_id(const element& id, const element& found, const place& at) const
{
    demand(id.type() == type::string, "$$sessionLsid takes the name of a session");
    const bson::document lsid = named_->get<session_entity>(id.as_string()).lsid();
    const bool same = found.type() == type::document && found.as_document() == lsid.view();
    return same ? difference{} : at.differs("the lsid " + shown(lsid), found);
}

difference matcher::text_as_document(const element& inner, const element& found,
                                     const place& at) const
{
    if (found.type() != type::string)
        return at.differs("a document as text", found);
    const auto parsed = bson::from_json(found.as_string());
    if (!parsed)
        return at.differs("a document as text", found);
    const bson::document holder = bson::doc("v", *parsed);
    place embedded = at;
    embedded.root = false;
    return value(inner, holder["v"], embedded);
}

}  // namespace holdfast::spec::unified
