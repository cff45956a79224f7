#include "lab/mongo/node/common_fields.hpp"

#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/node/field_error.hpp"
#include "lab/mongo/node/name_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace holdfast::lab::mongo {

namespace {

constexpr std::string_view session_info = "OperationSessionInfo";
constexpr std::size_t longest_database = 63;

result<void> read_database(request& what, const bson::element& e)
{
    if (e.type() != bson::type::string)
        return wrong_type({}, "$db", e.type(), "string");
    const std::string_view name = e.as_string();
    constexpr std::string_view forbidden{"/\\. \"$\0", 7};
    const bool valid = !name.empty() && name.size() <= longest_database &&
                       (name == "$external" || name.find_first_of(forbidden) == name.npos);
    if (!valid)
        return refuse(server_code::invalid_namespace,
                      "Invalid database name: '" + std::string{name} + "'");
    what.database = name;
    return {};
}

result<void> read_session(request& what, const bson::element& e)
{
    if (e.type() != bson::type::document)
        return wrong_type(session_info, "lsid", e.type(), "object");
    auto key = read_session_key(e.as_document());
    if (!key)
        return std::move(key).error();
    if (key->user == session_key{}.user)
        key->user = what.client.user_digest;
    what.session = *key;
    return {};
}

result<void> read_txn_number(request& what, const bson::element& e)
{
    if (e.type() != bson::type::int64)
        return wrong_type(session_info, "txnNumber", e.type(), "long");
    if (e.as_int64() < 0)
        return refuse(server_code::bad_value, "Transaction number cannot be negative");
    what.txn_number = e.as_int64();
    return {};
}

result<void> read_transaction(request& what, const bson::element& e)
{
    if (e.type() != bson::type::boolean)
        return wrong_type(session_info, e.key(), e.type(), "bool");
    what.in_transaction = true;
    return {};
}

result<void> read_concern_of_write(request& what, const bson::element& e)
{
    auto read = read_write_concern(e);
    if (!read)
        return std::move(read).error();
    what.concern = *std::move(read);
    return {};
}

result<void> read_concern_of_read(request& what, const bson::element& e)
{
    auto read = read_read_concern(e);
    if (!read)
        return std::move(read).error();
    what.reads = *std::move(read);
    return {};
}

result<void> read_preference(request& what, const bson::element& e)
{
    if (e.type() != bson::type::document)
        return wrong_type({}, "$readPreference", e.type(), "object");
    const bson::element mode = e.as_document().find("mode");
    if (!mode || mode.type() != bson::type::string)
        return refuse(server_code::failed_to_parse,
                      "Unable to parse read preference: it needs a mode, as a string");
    constexpr std::array<std::string_view, 5> modes{"primary", "primaryPreferred", "secondary",
                                                    "secondaryPreferred", "nearest"};
    if (std::ranges::find(modes, mode.as_string()) == modes.end())
        return refuse(server_code::failed_to_parse,
                      "Could not parse $readPreference mode '" + std::string{mode.as_string()} +
                          "'. Only the modes 'primary', 'primaryPreferred', 'secondary', "
                          "'secondaryPreferred', and 'nearest' are supported.");
    what.secondary_ok = mode.as_string() != "primary";
    return {};
}

result<void> read_api_version(request& what, const bson::element& e)
{
    if (e.type() != bson::type::string)
        return wrong_type("APIParametersFromClient", "apiVersion", e.type(), "string");
    if (e.as_string() != "1")
        return refuse(server_code::api_version_error, "API version must be \"1\"");
    what.api_version = e.as_string();
    return {};
}

result<void> read_api_flag(bool& into, const bson::element& e)
{
    if (e.type() != bson::type::boolean)
        return wrong_type("APIParametersFromClient", e.key(), e.type(), "bool");
    into = e.as_bool();
    return {};
}
result<void> read_api_strict(request& what, const bson::element& e)
{
    return read_api_flag(what.api_strict, e);
}
result<void> read_api_deprecation(request& what, const bson::element& e)
{
    return read_api_flag(what.api_deprecation_errors, e);
}

result<void> read_max_time(request& what, const bson::element& e)
{
    double value = 0;
    switch (e.type()) {
    case bson::type::int32:
        value = e.as_int32();
        break;
    case bson::type::int64:
        value = static_cast<double>(e.as_int64());
        break;
    case bson::type::double_:
        value = e.as_double();
        break;
    default:
        return wrong_type(what.name, "maxTimeMS", e.type(), "[long, int, decimal, double]");
    }
    constexpr double most = std::numeric_limits<std::int32_t>::max();
    if (!(value >= 0 && value <= most) || std::floor(value) != value)
        return refuse(server_code::bad_value,
                      "maxTimeMS value is not an integer within [0, 2147483647]");
    what.max_time_ms = static_cast<std::int64_t>(value);
    return {};
}

result<void> read_cluster_time(request& what, const bson::element& e)
{
    if (e.type() != bson::type::document)
        return wrong_type({}, "$clusterTime", e.type(), "object");
    const bson::element time = e.as_document().find("clusterTime");
    if (!time)
        return refuse(server_code::no_such_key, "Missing expected field \"clusterTime\"");
    if (time.type() != bson::type::timestamp)
        return wrong_type("$clusterTime", "clusterTime", time.type(), "timestamp");
    what.cluster_time = time.as_timestamp();
    return {};
}

result<void> nothing(request&, const bson::element&)
{
    return {};
}

struct common_field {
    std::string_view name;
    result<void> (*read)(request&, const bson::element&);
};

constexpr common_field fields[] = {
    {"$db", read_database},
    {"lsid", read_session},
    {"comment", nothing},
    {"rawData", nothing},
    {"$audit", nothing},
    {"$client", nothing},
    {"apiStrict", read_api_strict},
    {"maxTimeMS", read_max_time},
    {"txnNumber", read_txn_number},
    {"apiVersion", read_api_version},
    {"autocommit", read_transaction},
    {"readConcern", read_concern_of_read},
    {"$clusterTime", read_cluster_time},
    {"writeConcern", read_concern_of_write},
    {"$configServerState", nothing},
    {"startTransaction", read_transaction},
    {"$readPreference", read_preference},
    {"apiDeprecationErrors", read_api_deprecation},
};

constexpr name_table by_name{fields, [](const common_field& one) { return one.name; }};

const common_field* common_field_named(std::string_view key) noexcept
{
    const std::size_t found = by_name.find(key);
    return found == by_name.none ? nullptr : &fields[found];
}

}  // namespace

bool is_common_field(std::string_view key) noexcept
{
    return common_field_named(key) != nullptr;
}

result<void> read_common_fields(request& what)
{
    bool first = true;
    for (const bson::element& e : what.body) {
        if (!e)
            return malformed_field(e);
        if (std::exchange(first, false))
            continue;  // the command itself, whatever its name
        const common_field* const known = common_field_named(e.key());
        if (known == nullptr)
            continue;
        if (auto fine = known->read(what, e); !fine)
            return fine;
    }
    if (what.database.empty())
        return refuse(40571, "OP_MSG requests require a $db argument");
    if (what.txn_number && !what.session)
        return refuse(server_code::invalid_options,
                      "Transaction number requires a session ID to also be specified");
    if ((what.api_strict || what.api_deprecation_errors) && what.api_version.empty())
        return refuse(4886600,
                      "Provided apiStrict and/or apiDeprecationErrors without passing "
                      "apiVersion");
    return {};
}

}  // namespace holdfast::lab::mongo
