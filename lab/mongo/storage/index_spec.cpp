#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/document/shell_text.hpp"
#include "lab/mongo/query/matcher.hpp"
#include "lab/mongo/storage/collection.hpp"
#include "lab/mongo/storage/option_reader.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

namespace holdfast::lab {
namespace {

constexpr int invalid_index_option = 197;
constexpr std::size_t max_fields = 32;
constexpr std::size_t max_path_parts = 100;

constexpr std::array<std::string_view, 26> options = {"v",
                                                      "key",
                                                      "name",
                                                      "ns",
                                                      "unique",
                                                      "sparse",
                                                      "hidden",
                                                      "prepareUnique",
                                                      "background",
                                                      "dropDups",
                                                      "partialFilterExpression",
                                                      "expireAfterSeconds",
                                                      "collation",
                                                      "storageEngine",
                                                      "weights",
                                                      "default_language",
                                                      "language_override",
                                                      "textIndexVersion",
                                                      "2dsphereIndexVersion",
                                                      "bits",
                                                      "min",
                                                      "max",
                                                      "wildcardProjection",
                                                      "clustered",
                                                      "bucketSize",
                                                      "originalSpec"};
constexpr std::array<std::string_view, 5> plugins = {"text", "2d", "2dsphere", "hashed",
                                                     "2dsphere_bucket"};
constexpr std::array<std::string_view, 11> partial_operators = {
    "$and", "$or", "$in", "$eq", "$gt", "$gte", "$lt", "$lte", "$exists", "$type", "$not"};

error cannot(std::string text)
{
    return refuse(server_code::cannot_create_index, std::move(text));
}

error wrong_field(const bson::element& e, std::string_view expected)
{
    return refuse(server_code::type_mismatch, "The field '" + std::string{e.key()} + "' must be " +
                                                  std::string{expected} + ", but got " +
                                                  std::string{type_alias(e.type())});
}

result<void> check_path(std::string_view path)
{
    if (path.empty())
        return cannot("Index keys cannot be an empty field.");
    if (static_cast<std::size_t>(std::ranges::count(path, '.')) >= max_path_parts)
        return cannot("Index key contains a path that is too long.");
    while (true) {
        const std::size_t dot = path.find('.');
        const std::string_view part = path.substr(0, dot);
        if (part.empty())
            return cannot("Index keys cannot contain an empty field.");
        if (part.front() == '$' && part != "$**" && part != "$id" && part != "$ref" &&
            part != "$db")
            return cannot("Index key contains an illegal field name: field name starts with '$'.");
        if (dot == path.npos)
            return {};
        path = path.substr(dot + 1);
    }
}

result<void> check_direction(const bson::element& e)
{
    if (e.type() == bson::type::string) {
        if (std::ranges::find(plugins, e.as_string()) == plugins.end())
            return cannot("Unknown index plugin '" + std::string{e.as_string()} + "'");
        return {};
    }
    bool zero = false;
    switch (e.type()) {
    case bson::type::int32:
        zero = e.as_int32() == 0;
        break;
    case bson::type::int64:
        zero = e.as_int64() == 0;
        break;
    case bson::type::double_:
        zero = e.as_double() == 0;
        if (std::isnan(e.as_double()))
            return cannot("Values in the index key pattern cannot be NaN.");
        break;
    case bson::type::decimal128:
        zero = truth(e) == false;
        break;
    default:
        return cannot("Values in v:2 index key pattern cannot be of type " +
                      std::string{type_alias(e.type())} +
                      ". Only numbers > 0, numbers < 0, and strings are allowed.");
    }
    if (zero)
        return cannot("Values in the index key pattern cannot be 0.");
    return {};
}

result<void> check_key(bson::view key)
{
    std::size_t fields = 0;
    for (const bson::element& e : key) {
        if (auto fine = check_path(e.key()); !fine)
            return fine;
        if (auto fine = check_direction(e); !fine)
            return fine;
        if (++fields > max_fields)
            return cannot("Index key pattern has more than " + std::to_string(max_fields) +
                          " fields.");
    }
    if (fields == 0)
        return cannot("Index keys cannot be empty.");
    return {};
}

std::string default_name(bson::view key)
{
    std::string name;
    for (const bson::element& e : key) {
        if (!name.empty())
            name += '_';
        name += e.key();
        name += '_';
        if (e.type() == bson::type::string)
            name += e.as_string();
        else
            name += std::to_string(clamped_number(e).value_or(0));
    }
    return name;
}

/// Only conditions for which a planner could see that a query asks for less.
result<void> check_partial(bson::view filter, int depth)
{
    if (depth > bson::max_depth)
        return cannot("partialFilterExpression is nested too deeply");
    for (const bson::element& e : filter) {
        const bool is_operator = e.key().starts_with('$');
        if (is_operator && std::ranges::find(partial_operators, e.key()) == partial_operators.end())
            return cannot("Expression not supported in partial index: " + std::string{e.key()});
        if (e.key() == "$not" || (e.key() == "$exists" && truth(e) == false))
            return cannot("Expression not supported in partial index: $not");
        if (e.type() == bson::type::array && (e.key() == "$and" || e.key() == "$or")) {
            for (const bson::element& each : e.as_array()) {
                if (each.type() != bson::type::document)
                    continue;
                if (auto fine = check_partial(each.as_document(), depth + 1); !fine)
                    return fine;
            }
        } else if (e.type() == bson::type::document && !is_operator && !e.as_document().empty() &&
                   e.as_document().begin()->key().starts_with('$')) {
            if (auto fine = check_partial(e.as_document(), depth + 1); !fine)
                return fine;
        }
    }
    return {};
}

result<void> read_partial(const bson::element& e, index_spec& to)
{
    if (e.type() != bson::type::document)
        return wrong_field(e, "an object");
    if (auto fine = check_partial(e.as_document(), 1); !fine)
        return fine;
    auto compiled = matcher::compile(e.as_document());
    if (!compiled)
        return std::move(compiled).error();
    to.partial_filter = bson::document{e.as_document()};
    return {};
}

result<void> read_expiry(const bson::element& e, index_spec& to)
{
    const auto seconds = clamped_number(e);
    if (!seconds)
        return cannot(
            "TTL index 'expireAfterSeconds' option must be numeric, but received a type "
            "of '" +
            std::string{type_alias(e.type())} + "'.");
    if (*seconds < 0 || *seconds > INT32_MAX)
        return cannot(
            "TTL index 'expireAfterSeconds' option must be within an acceptable range, "
            "try a different number than " +
            std::to_string(*seconds) + ".");
    to.expire_after_seconds = *seconds;
    return {};
}

result<void> read_flag(const bson::element& e, bool& to)
{
    const auto on = truth(e);
    if (!on)
        return refuse(server_code::type_mismatch,
                      "The field '" + std::string{e.key()} +
                          "' has a value that is not convertible to bool: it is of type " +
                          std::string{type_alias(e.type())});
    to = *on;
    return {};
}

result<void> read_key(const bson::element& e, index_spec& to)
{
    if (e.type() != bson::type::document)
        return wrong_field(e, "an object");
    to.key = bson::document{e.as_document()};
    return check_key(to.key);
}

result<void> read_name(const bson::element& e, index_spec& to)
{
    if (e.type() != bson::type::string)
        return wrong_field(e, "a string");
    to.name = std::string{e.as_string()};
    if (to.name.empty())
        return cannot("index name cannot be empty");
    if (to.name == "*")
        return refuse(server_code::bad_value, "The index name '*' is not valid.");
    if (to.name.find('\0') != to.name.npos)
        return cannot("index name cannot contain NUL bytes");
    return {};
}

result<void> read_version(const bson::element& e)
{
    const auto version = clamped_number(e);
    if (!version)
        return wrong_field(e, "a number");
    if (*version != 1 && *version != 2)
        return cannot("Invalid index specification; cannot create an index with v=" +
                      std::to_string(*version));
    return {};
}

result<void> read_order(const bson::element& e, index_spec& to)
{
    if (e.type() != bson::type::document)
        return wrong_field(e, "an object");
    auto order = read_collation(e);
    if (!order)
        return std::move(order).error();
    to.order = *order;
    return {};
}

result<void> read_field(const bson::element& e, index_spec& to)
{
    const std::string_view name = e.key();
    if (name == "key")
        return read_key(e, to);
    if (name == "name")
        return read_name(e, to);
    if (name == "v")
        return read_version(e);
    if (name == "unique")
        return read_flag(e, to.unique);
    if (name == "sparse")
        return read_flag(e, to.sparse);
    if (name == "hidden")
        return read_flag(e, to.hidden);
    if (name == "prepareUnique")
        return read_flag(e, to.prepare_unique);
    if (name == "partialFilterExpression")
        return read_partial(e, to);
    if (name == "expireAfterSeconds")
        return read_expiry(e, to);
    if (name == "collation")
        return read_order(e, to);
    return {};
}

result<void> check_together(const index_spec& spec, bson::view from)
{
    const bool on_id = spec.key.begin()->key() == "_id" && ++spec.key.begin() == spec.key.end();
    if (spec.sparse && !spec.partial_filter.empty())
        return cannot("cannot mix \"partialFilterExpression\" and \"sparse\" options");
    if (spec.expire_after_seconds && ++spec.key.begin() != spec.key.end())
        return cannot(
            "TTL indexes are single-field indexes, compound indexes do not support TTL. "
            "Index spec: " +
            shell_text(from));
    if (on_id && spec.expire_after_seconds)
        return cannot(
            "The field 'expireAfterSeconds' is not valid for an _id index "
            "specification. Specification: " +
            shell_text(from));
    if (!on_id || clamped_number(*spec.key.begin()) != std::int64_t{1})
        return {};
    for (const std::string_view name : {"unique", "sparse", "partialFilterExpression", "hidden"}) {
        if (from.find(name))
            return refuse(name == "hidden" ? static_cast<int>(server_code::bad_value)
                                           : invalid_index_option,
                          "The field '" + std::string{name} +
                              "' is not valid for an _id index specification. Specification: " +
                              shell_text(from));
    }
    return {};
}

bson::document normalised(const index_spec& spec, bson::view from)
{
    bson::byte_buffer bytes;
    bson::builder raw{bytes};
    raw.add("v", static_cast<std::int32_t>(clamped_number(from.find("v")).value_or(2)));
    raw.add("key", spec.key).add("name", spec.name);
    for (const bson::element& e : from) {
        const std::string_view name = e.key();
        if (name == "v" || name == "key" || name == "name" || name == "ns" ||
            name == "background" || name == "dropDups")
            continue;
        if ((name == "unique" && !spec.unique) || (name == "sparse" && !spec.sparse) ||
            (name == "hidden" && !spec.hidden) || (name == "prepareUnique" && !spec.prepare_unique))
            continue;
        if (name == "unique" || name == "sparse" || name == "hidden" || name == "prepareUnique")
            raw.add(name, true);
        else if (name == "expireAfterSeconds")
            raw.add(name, static_cast<std::int32_t>(spec.expire_after_seconds.value_or(0)));
        else if (name == "collation" && spec.order)
            raw.add(name, full_collation(e.as_document()));
        else
            raw.copy(e);
    }
    (void)raw.finish();
    return bson::document::adopt(std::move(bytes));
}

}  // namespace

result<index_spec> read_index_spec(bson::view from)
{
    index_spec spec;
    bool has_key = false;
    for (const bson::element& e : from) {
        if (e.malformed())
            return refuse(server_code::failed_to_parse, "invalid BSON in an index specification");
        if (std::ranges::find(options, e.key()) == options.end())
            return refuse(invalid_index_option,
                          "The field '" + std::string{e.key()} +
                              "' is not valid for an index specification. Specification: " +
                              shell_text(from));
        if (auto fine = read_field(e, spec); !fine)
            return std::move(fine).error();
        has_key = has_key || e.key() == "key";
    }
    if (!has_key)
        return refuse(server_code::failed_to_parse,
                      "The 'key' field is a required property of an index specification");
    if (auto fine = check_together(spec, from); !fine)
        return std::move(fine).error();
    if (spec.name.empty())
        spec.name = default_name(spec.key);
    if (spec.key == bson::doc("_id", 1).view())
        spec.name = "_id_";
    spec.raw = normalised(spec, from);
    return spec;
}

}  // namespace holdfast::lab
