#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/node/common_fields.hpp"
#include "lab/mongo/node/field_error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>

namespace holdfast::lab::mongo {

namespace {

constexpr std::int64_t most_members = 50;
constexpr std::string_view write_concern_name = "WriteConcernOptions";  // in messages

std::optional<double> number(const bson::element& e)
{
    switch (e.type()) {
    case bson::type::int32:
        return e.as_int32();
    case bson::type::int64:
        return static_cast<double>(e.as_int64());
    case bson::type::double_:
        return e.as_double();
    case bson::type::decimal128:
        return std::strtod(e.as_decimal128().to_string().c_str(), nullptr);
    default:
        return std::nullopt;
    }
}

error unparsable(std::string text)
{
    return refuse(server_code::failed_to_parse, std::move(text));
}

result<void> read_w(write_concern& into, const bson::element& e)
{
    if (e.type() == bson::type::string) {
        into.majority = e.as_string() == "majority";
        if (!into.majority)
            into.mode = e.as_string();
        return {};
    }
    const auto value = number(e);
    if (!value)
        return unparsable("w has to be a number, string, or object; found: " +
                          std::string{type_name(e.type())});
    if (!(*value >= 0 && *value <= most_members))
        return unparsable("w has to be a non-negative number and not greater than 50; found: " +
                          std::to_string(*value));
    into.w = static_cast<std::int64_t>(*value);
    return {};
}

result<void> read_flag(std::optional<bool>& into, const bson::element& e)
{
    if (e.type() == bson::type::boolean) {
        into = e.as_bool();
        return {};
    }
    const auto value = number(e);
    if (!value)
        return wrong_type(write_concern_name, e.key(), e.type(),
                          "[bool, long, int, decimal, double]");
    into = *value != 0;
    return {};
}

}  // namespace

result<write_concern> read_write_concern(const bson::element& from)
{
    if (from.type() != bson::type::document)
        return wrong_type({}, "writeConcern", from.type(), "object");
    write_concern read;
    std::optional<bool> fsync;
    for (const bson::element& e : from.as_document()) {
        if (!e)
            return malformed_field(e);
        result<void> fine;
        if (e.key() == "w") {
            fine = read_w(read, e);
        } else if (e.key() == "j") {
            fine = read_flag(read.journal, e);
        } else if (e.key() == "fsync") {
            fine = read_flag(fsync, e);
        } else if (e.key() == "wtimeout") {
            const double value = number(e).value_or(0);
            // Beyond a month it might as well be for ever.
            read.timeout_ms = value > 0 && value < 3e9 ? static_cast<std::int64_t>(value) : 0;
        } else if (e.key() != "provenance" && e.key() != "wElectionId" && e.key() != "wOpTime" &&
                   e.key() != "getLastError") {
            fine = unknown_field(write_concern_name, e.key());
        }
        if (!fine)
            return std::move(fine).error();
        read.given = true;
    }
    if (fsync.value_or(false) && read.journal.value_or(false))
        return unparsable("fsync and j options cannot be used together");
    return read;
}

result<read_concern> read_read_concern(const bson::element& from)
{
    if (from.type() != bson::type::document)
        return wrong_type({}, "readConcern", from.type(), "object");
    read_concern read;
    for (const bson::element& e : from.as_document()) {
        if (!e)
            return malformed_field(e);
        if (e.key() == "level") {
            constexpr std::array<std::string_view, 5> levels{"local", "majority", "linearizable",
                                                             "available", "snapshot"};
            if (e.type() != bson::type::string)
                return wrong_type("readConcern", "level", e.type(), "string");
            if (std::ranges::find(levels, e.as_string()) == levels.end())
                return refuse(server_code::bad_value,
                              "Enumeration value '" + std::string{e.as_string()} +
                                  "' for field 'readConcern.level' is not a valid value.");
            read.level = e.as_string();
        } else if (e.key() == "afterClusterTime" || e.key() == "atClusterTime") {
            if (e.type() != bson::type::timestamp)
                return wrong_type("readConcern", e.key(), e.type(), "timestamp");
            (e.key() == "afterClusterTime" ? read.after_cluster_time
                                           : read.at_cluster_time) = e.as_timestamp();
        } else if (e.key() != "provenance" && e.key() != "afterOpTime" &&
                   e.key() != "$_waitLastStableRecoveryTimestamp") {
            return unknown_field("readConcern", e.key());
        }
    }
    if (read.at_cluster_time && read.level != "snapshot")
        return refuse(server_code::invalid_options,
                      "readConcern.atClusterTime is only allowed if readConcern.level is "
                      "snapshot");
    if (read.at_cluster_time && read.after_cluster_time)
        return refuse(server_code::invalid_options,
                      "Specifying both afterClusterTime and atClusterTime is not allowed");
    return read;
}

void describe_write_concern(const write_concern& what, bson::builder& out)
{
    if (what.majority)
        out.add("w", "majority");
    else if (!what.mode.empty())
        out.add("w", what.mode);
    else
        out.add("w", static_cast<std::int32_t>(what.w));
    if (what.journal)
        out.add("j", *what.journal);
    out.add("wtimeout",
            static_cast<std::int32_t>(std::min<std::int64_t>(what.timeout_ms, INT32_MAX)));
    out.add("provenance", what.given ? "clientSupplied" : "implicitDefault");
}

}  // namespace holdfast::lab::mongo
