#include "lab/mongo/command/fields.hpp"

#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/node/field_error.hpp"
#include "lab/mongo/node/name_table.hpp"
#include "lab/mongo/storage/catalog.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

namespace holdfast::lab::mongo {

namespace {

// Fields that every command takes; read_common_fields() reads them, or they are ignored.
constexpr std::string_view generic_fields[] = {"$db",
                                               "lsid",
                                               "$clusterTime",
                                               "txnNumber",
                                               "$readPreference",
                                               "readConcern",
                                               "writeConcern",
                                               "maxTimeMS",
                                               "comment",
                                               "apiVersion",
                                               "apiStrict",
                                               "apiDeprecationErrors",
                                               "autocommit",
                                               "startTransaction",
                                               "rawData",
                                               "maxTimeMSOpOnly",
                                               "$audit",
                                               "$client",
                                               "$configServerState",
                                               "$configTime",
                                               "$topologyTime",
                                               "$queryOptions",
                                               "$replData",
                                               "$oplogQueryData",
                                               "$gleStats",
                                               "databaseVersion",
                                               "shardVersion",
                                               "clientOperationKey",
                                               "mayBypassWriteBlocking",
                                               "allowImplicitCollectionCreation",
                                               "coordinator",
                                               "help",
                                               "$tenant",
                                               "expectPrefix",
                                               "versionContext",
                                               "isTimeseriesNamespace",
                                               "tracking_info",
                                               "$traceCtx"};

constexpr name_table generic_names{generic_fields, [](std::string_view name) { return name; }};

bool is_number(bson::type t) noexcept
{
    return t == bson::type::int32 || t == bson::type::int64 || t == bson::type::double_ ||
           t == bson::type::decimal128;
}

// The types of a kind in MongoDB's words; empty if the type is one of them.
std::string_view expected_instead_of(kind holds, bson::type t) noexcept
{
    switch (holds) {
    case kind::any:
    case kind::ignored:
        return {};
    case kind::boolean:
        return t == bson::type::boolean || is_number(t) ? "" : "[bool, long, int, decimal, double]";
    case kind::number:
    case kind::count:
        return is_number(t) ? "" : "[long, int, decimal, double]";
    case kind::text:
        return t == bson::type::string ? "" : "string";
    case kind::document:
        return t == bson::type::document ? "" : "object";
    case kind::array:
    case kind::sequence:
        return t == bson::type::array ? "" : "array";
    case kind::text_or_document:
        return t == bson::type::string || t == bson::type::document ? "" : "[string, object]";
    case kind::document_or_array:
        return t == bson::type::document || t == bson::type::array ? "" : "[object, array]";
    case kind::object_id:
        return t == bson::type::object_id ? "" : "objectId";
    case kind::long_only:
        return t == bson::type::int64 ? "" : "long";
    }
    return {};
}

result<void> check(const field_rule& rule, const bson::element& e, std::string_view where)
{
    const std::string_view expected = expected_instead_of(rule.holds, e.type());
    if (!expected.empty())
        return wrong_type(where, rule.name, e.type(), expected);
    if (rule.holds == kind::count) {
        if (const auto n = as_number(e); n && *n < 0) {
            return refuse(51024, "BSON field '" + std::string{rule.name} +
                                     "' value must be >= 0, actual value '" + std::to_string(*n) +
                                     "'");
        }
    }
    return {};
}

// Servers before 5.0 had other words for some commands.
error unknown(const node& on, std::string_view where, std::string_view field)
{
    const std::string name{field};
    if (version_number(on) < 500) {
        if (where == "aggregate")
            return refuse(server_code::failed_to_parse, "unrecognized field '" + name + "'");
        if (where == "find")
            return refuse(server_code::failed_to_parse,
                          "Failed to parse: Unrecognized field '" + name + "'.");
        if (where == "findAndModify" || where == "findandmodify")
            return unknown_field({}, field);
    }
    return unknown_field(where, field);
}

// Version 4.2 took no comment in most commands, and only text in the others.
bool too_old_for_comment(const node& on, std::string_view where, const bson::element& e)
{
    if (e.key() != "comment" || version_number(on) >= 404)
        return false;
    const bool known = where == "find" || where == "aggregate";
    return !known || e.type() != bson::type::string;
}

error no_transactions()
{
    return refuse(server_code::operation_not_supported_in_transaction,
                  "Transactions are not in this lab yet");
}

}  // namespace

bool is_generic_field(std::string_view name) noexcept
{
    return generic_names.find(name) != generic_names.none;
}

result<void> read_fields(const node& on, bson::view from, std::string_view where, bool generic,
                         std::span<const field_rule> rules, std::span<bson::element> into)
{
    const int version = version_number(on);
    auto at = from.begin();
    if (generic && at != from.end())
        ++at;  // the command itself
    for (; at != from.end(); ++at) {
        const bson::element& e = *at;
        if (e.malformed())
            return malformed_field(e);
        const auto rule = std::ranges::find(rules, e.key(), &field_rule::name);
        if (rule == rules.end() || rule->since > version) {
            if (!generic || !is_generic_field(e.key()) || too_old_for_comment(on, where, e))
                return unknown(on, where, e.key());
            if (e.key() == "autocommit")
                return no_transactions();
            continue;
        }
        bson::element& place = into[static_cast<std::size_t>(rule - rules.begin())];
        if (place)
            return duplicate_field(where, e.key());
        if (e.is_null() && rule->holds != kind::any)
            continue;
        if (auto fine = check(*rule, e, where); !fine)
            return fine;
        place = e;
    }
    for (std::size_t i = 0; i != rules.size(); ++i) {
        if (rules[i].required && !into[i])
            return missing_field(where, rules[i].name);
    }
    return {};
}

std::optional<std::int64_t> as_number(const bson::element& e) noexcept
{
    constexpr double too_large = 9223372036854775808.0;
    double real = 0;
    switch (e.type()) {
    case bson::type::int32:
        return e.as_int32();
    case bson::type::int64:
        return e.as_int64();
    case bson::type::double_:
        real = e.as_double();
        break;
    case bson::type::decimal128: {
        auto read = e.as_decimal128().to_string();
        real = std::strtod(read.c_str(), nullptr);
        break;
    }
    default:
        return std::nullopt;
    }
    if (std::isnan(real))
        return 0;
    if (real >= too_large)
        return std::numeric_limits<std::int64_t>::max();
    if (real < -too_large)
        return std::numeric_limits<std::int64_t>::min();
    return static_cast<std::int64_t>(real);
}

bool as_flag(const bson::element& e, bool otherwise) noexcept
{
    if (e.type() == bson::type::boolean)
        return e.as_bool();
    if (e.type() == bson::type::double_)
        return e.as_double() != 0;
    const auto number = as_number(e);
    return number ? *number != 0 : otherwise;
}

result<namespace_text> namespace_text::join(std::string_view database, std::string_view collection)
{
    namespace_text made;
    if (database.size() + 1 + collection.size() > limit)
        return refuse(server_code::invalid_namespace,
                      "Fully qualified namespace is too long. Max: 255");
    if (collection.empty()) {
        return refuse(server_code::invalid_namespace,
                      "Invalid namespace specified '" + std::string{database} + ".'");
    }
    std::ranges::copy(database, made.bytes_.begin());
    made.dot_ = database.size();
    made.bytes_[made.dot_] = '.';
    std::ranges::copy(collection, made.bytes_.begin() + static_cast<std::ptrdiff_t>(made.dot_) + 1);
    made.size_ = database.size() + 1 + collection.size();
    return made;
}

result<namespace_text> namespace_text::split(std::string_view whole)
{
    const std::size_t dot = whole.find('.');
    if (dot == std::string_view::npos || dot == 0) {
        return refuse(server_code::invalid_namespace,
                      "Invalid namespace specified '" + std::string{whole} + "'");
    }
    return join(whole.substr(0, dot), whole.substr(dot + 1));
}

result<namespace_text> namespace_text::of(const request& what)
{
    const bson::element first = *what.body.begin();
    if (what.body.empty() || first.type() != bson::type::string) {
        return refuse(server_code::invalid_namespace,
                      "collection name has invalid type " + std::string{type_name(first.type())});
    }
    if (first.as_string().find('\0') != std::string_view::npos)
        return refuse(server_code::invalid_namespace,
                      "namespaces cannot have embedded null characters");
    return join(what.database, first.as_string());
}

namespace_text namespace_text::command_of(std::string_view database)
{
    auto made = join(database.substr(0, 64), "$cmd");
    return made ? *made : namespace_text{};
}

}  // namespace holdfast::lab::mongo
