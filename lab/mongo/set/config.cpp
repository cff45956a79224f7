#include "lab/mongo/set/config.hpp"

#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/document/type_name.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::lab::mongo {

error invalid_config(std::string why)
{
    return refuse(93, std::move(why));
}

namespace {

error wrong_type(std::string_view path, const bson::element& found, std::string_view expected)
{
    return invalid_config("BSON field '" + std::string{path} + "' is the wrong type '" +
                          std::string{type_name(found.type())} + "', expected type '" +
                          std::string{expected} + "'");
}

result<std::int64_t> number(const bson::element& from, std::string_view path)
{
    if (from.type() == bson::type::double_ || from.type() == bson::type::int32 ||
        from.type() == bson::type::int64) {
        if (auto value = from.get<std::int64_t>())
            return value;
    }
    return wrong_type(path, from, "long");
}

result<bool> flag(const bson::element& from, std::string_view path)
{
    if (from.type() == bson::type::boolean)
        return from.as_bool();
    auto value = number(from, path);
    if (!value)
        return std::move(value).error();
    return *value != 0;
}

result<std::map<std::string, std::string>> read_tags(const bson::element& from)
{
    std::map<std::string, std::string> tags;
    if (from.type() != bson::type::document)
        return wrong_type("members.tags", from, "object");
    for (const bson::element& tag : from.as_document()) {
        if (tag.type() != bson::type::string)
            return wrong_type("members.tags", tag, "string");
        tags.emplace(tag.key(), tag.as_string());
    }
    return tags;
}

/// One field of a member. Gives false for a name that is not known.
result<bool> read_member_field(member_config& into, const bson::element& field)
{
    const std::string_view key = field.key();
    const std::string path = "members." + std::string{key};
    const auto store_number = [&](auto& to) -> result<bool> {
        auto value = number(field, path);
        if (!value)
            return std::move(value).error();
        to = static_cast<std::remove_reference_t<decltype(to)>>(*value);
        return true;
    };
    const auto store_flag = [&](bool& to) -> result<bool> {
        auto value = flag(field, path);
        if (!value)
            return std::move(value).error();
        to = *value;
        return true;
    };
    if (key == "_id")
        return store_number(into.id);
    if (key == "host") {
        if (field.type() != bson::type::string)
            return wrong_type(path, field, "string");
        into.host = field.as_string();
        return true;
    }
    if (key == "priority") {
        auto value = field.get<double>();
        if (!value)
            return wrong_type(path, field, "double");
        into.priority = *value;
        return true;
    }
    if (key == "tags") {
        auto tags = read_tags(field);
        if (!tags)
            return std::move(tags).error();
        into.tags = *std::move(tags);
        return true;
    }
    if (key == "arbiterOnly")
        return store_flag(into.arbiter_only);
    if (key == "buildIndexes")
        return store_flag(into.build_indexes);
    if (key == "hidden")
        return store_flag(into.hidden);
    if (key == "votes")
        return store_number(into.votes);
    if (key == "secondaryDelaySecs" || key == "slaveDelay")
        return store_number(into.delay_secs);
    return key == "horizons";  // known, and of no use here
}

result<member_config> read_member(bson::view from)
{
    member_config made;
    bool has_id = false;
    bool has_host = false;
    bool has_priority = false;
    for (const bson::element& field : from) {
        if (field.malformed())
            return invalid_config(field.fault());
        auto known = read_member_field(made, field);
        if (!known)
            return std::move(known).error();
        if (!*known)
            return invalid_config("BSON field 'members." + std::string{field.key()} +
                                  "' is an unknown field.");
        has_id = has_id || field.key() == "_id";
        has_host = has_host || field.key() == "host";
        has_priority = has_priority || field.key() == "priority";
    }
    if (!has_id || !has_host)
        return invalid_config(std::string{"BSON field 'members."} + (has_id ? "host" : "_id") +
                              "' is missing but a required field");
    if (made.arbiter_only && !has_priority)
        made.priority = 0;
    return made;
}

result<void> read_modes(set_config& into, const bson::element& from)
{
    if (from.type() != bson::type::document)
        return wrong_type("settings.getLastErrorModes", from, "object");
    for (const bson::element& mode : from.as_document()) {
        if (mode.type() != bson::type::document)
            return wrong_type("settings.getLastErrorModes", mode, "object");
        tag_mode made;
        for (const bson::element& tag : mode.as_document()) {
            auto count = number(tag, "settings.getLastErrorModes");
            if (!count)
                return std::move(count).error();
            made.emplace(tag.key(), *count);
        }
        into.modes.emplace(mode.key(), std::move(made));
    }
    return {};
}

result<void> read_settings(set_config& into, bson::view from)
{
    for (const bson::element& field : from) {
        const std::string_view key = field.key();
        if (field.malformed())
            return invalid_config(field.fault());
        if (key == "replicaSetId" && field.type() == bson::type::object_id)
            into.id = field.as_object_id();
        if (key == "getLastErrorModes") {
            if (auto fine = read_modes(into, field); !fine)
                return fine;
        }
        if (key != "heartbeatIntervalMillis" && key != "electionTimeoutMillis")
            continue;
        auto value = number(field, key);
        if (!value)
            return std::move(value).error();
        if (*value <= 0 || *value > 3'600'000)
            return invalid_config(std::string{key} + " must be greater than 0");
        (key[0] == 'h' ? into.heartbeat_interval
                       : into.election_timeout) = std::chrono::milliseconds{*value};
    }
    return {};
}

result<void> read_members(set_config& into, const bson::element& from)
{
    if (from.type() != bson::type::array)
        return wrong_type("members", from, "array");
    for (const bson::element& one : from.as_array()) {
        if (one.type() != bson::type::document)
            return wrong_type("members", one, "object");
        if (into.members.size() > most_members)
            return {};  // check_config() refuses so many
        auto made = read_member(one.as_document());
        if (!made)
            return std::move(made).error();
        into.members.push_back(*std::move(made));
    }
    return {};
}

}  // namespace

const member_config* set_config::by_id(std::int32_t wanted) const noexcept
{
    const auto found = std::ranges::find(members, wanted, &member_config::id);
    return found == members.end() ? nullptr : &*found;
}

const member_config* set_config::by_host(std::string_view host) const noexcept
{
    const auto found = std::ranges::find(members, host, &member_config::host);
    return found == members.end() ? nullptr : &*found;
}

std::size_t set_config::voters() const noexcept
{
    return static_cast<std::size_t>(std::ranges::count_if(members, &member_config::voter));
}

std::size_t set_config::data_voters() const noexcept
{
    return static_cast<std::size_t>(std::ranges::count_if(
        members, [](const member_config& m) { return m.voter() && m.has_data(); }));
}

std::size_t set_config::data_members() const noexcept
{
    return static_cast<std::size_t>(std::ranges::count_if(members, &member_config::has_data));
}

std::size_t set_config::write_majority() const noexcept
{
    return std::min(majority(), data_voters());
}

result<set_config> read_config(bson::view from)
{
    set_config made;
    bool has_members = false;
    for (const bson::element& field : from) {
        const std::string_view key = field.key();
        if (field.malformed())
            return invalid_config(field.fault());
        result<void> fine;
        if (key == "_id") {
            if (field.type() != bson::type::string)
                return wrong_type("_id", field, "string");
            made.name = field.as_string();
        } else if (key == "version" || key == "term") {
            auto value = number(field, key);
            if (!value)
                return std::move(value).error();
            (key == "term" ? made.term : made.version) = *value;
        } else if (key == "members") {
            has_members = true;
            fine = read_members(made, field);
        } else if (key == "settings") {
            if (field.type() != bson::type::document)
                return wrong_type("settings", field, "object");
            fine = read_settings(made, field.as_document());
        } else if (key != "protocolVersion" && key != "writeConcernMajorityJournalDefault" &&
                   key != "configsvr") {
            return invalid_config("BSON field '" + std::string{key} + "' is an unknown field.");
        }
        if (!fine)
            return std::move(fine).error();
    }
    if (!has_members)
        return invalid_config("BSON field 'members' is missing but a required field");
    return made;
}

void write_config(bson::builder& into, const set_config& what)
{
    into.add("_id", what.name).add("version", static_cast<std::int32_t>(what.version));
    if (what.term >= 0)
        into.add("term", what.term);
    {
        bson::array_builder members = into.array("members");
        for (const member_config& m : what.members) {
            bson::builder one = members.document();
            one.add("_id", m.id)
                .add("host", m.host)
                .add("arbiterOnly", m.arbiter_only)
                .add("buildIndexes", m.build_indexes)
                .add("hidden", m.hidden)
                .add("priority", m.priority);
            {
                bson::builder tags = one.document("tags");
                for (const auto& [name, value] : m.tags)
                    tags.add(name, value);
            }
            one.add("secondaryDelaySecs", m.delay_secs).add("votes", m.votes);
        }
    }
    into.add("protocolVersion", std::int64_t{1}).add("writeConcernMajorityJournalDefault", true);
    bson::builder settings = into.document("settings");
    settings.add("chainingAllowed", true)
        .add("heartbeatIntervalMillis", static_cast<std::int32_t>(what.heartbeat_interval.count()))
        .add("heartbeatTimeoutSecs", 10)
        .add("electionTimeoutMillis", static_cast<std::int32_t>(what.election_timeout.count()))
        .add("catchUpTimeoutMillis", -1)
        .add("catchUpTakeoverDelayMillis", 30'000);
    {
        bson::builder modes = settings.document("getLastErrorModes");
        for (const auto& [name, tags] : what.modes) {
            bson::builder mode = modes.document(name);
            for (const auto& [tag, count] : tags)
                mode.add(tag, static_cast<std::int32_t>(count));
        }
    }
    {
        bson::builder defaults = settings.document("getLastErrorDefaults");
        defaults.add("w", 1).add("wtimeout", 0);
    }
    settings.add("replicaSetId", what.id);
}

}  // namespace holdfast::lab::mongo
