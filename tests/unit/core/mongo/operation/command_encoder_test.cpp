#include "core/mongo/operation/command_encoder.hpp"

#include "unit/core/mongo/operation/operation_fixture.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace holdfast::core::mongo::command_encoder_test {
namespace {

const read_preference near_new_york{.mode = read_mode::secondary_preferred,
                                    .tag_sets = {{{"dc", "ny"}}, {}},
                                    .max_staleness = std::chrono::seconds{120}};
constexpr const char* as_given =
    R"({"mode": "secondaryPreferred", "tags": [{"dc": "ny"}, {}], "maxStalenessSeconds": 120})";
constexpr const char* any_state = R"({"mode": "primaryPreferred"})";
constexpr const char* none = "none";

command a_command(retry_kind kind, operation_kind selects, read_preference preference = {})
{
    command made;
    made.database = "sea";
    made.body = bson::doc("name", "coll");
    made.kind = kind;
    made.selects = selects;
    made.preference = std::move(preference);
    return made;
}

/// The $readPreference that such a server of such a topology gets.
std::string sent(command what, topology_type topology, server_type server,
                 std::int32_t wire_version = 21)
{
    server_description on;
    on.address = endpoint{"a:27017"};
    on.type = server;
    on.max_wire_version = wire_version;
    topology_description known;
    known.type = topology;
    known.servers = {std::make_shared<const server_description>(on)};
    bson::byte_buffer outgoing;
    command_encoder out{what, request_id{1}, {}, outgoing};
    out.add_read_preference(known, on);
    if (!out.finish({}))
        return "error";
    const bson::element preference = what.body.find("$readPreference");
    return preference ? shown(preference.as_document()) : none;
}

std::string expected(const char* preference)
{
    return preference == none ? none : normal(preference);
}

struct row {
    const char* what;
    command sends;
    const char* directly;  // to a member of a replica set
    const char* in_a_set;
};

const row table[] = {
    {"read, default", a_command(retry_kind::read, operation_kind::read), any_state, none},
    {"read, with a preference", a_command(retry_kind::read, operation_kind::read, near_new_york),
     as_given, as_given},
    {"runCommand", a_command(retry_kind::generic, operation_kind::write), any_state, none},
    {"runCommand, with a preference",
     a_command(retry_kind::generic, operation_kind::read, near_new_york), as_given, as_given},
    {"write", a_command(retry_kind::write, operation_kind::write), none, none},
    {"write, preference of its collection",
     a_command(retry_kind::write, operation_kind::write, near_new_york), none, none},
    {"$out, with a preference", a_command(retry_kind::write, operation_kind::read, near_new_york),
     as_given, as_given},
};

TEST(command_encoder, direct_connection_sends_the_read_preference_of_the_application)
{
    for (const row& r : table) {
        for (const server_type type : {server_type::rs_primary, server_type::rs_secondary,
                                       server_type::rs_other, server_type::rs_ghost})
            EXPECT_EQ(sent(r.sends, topology_type::single, type), expected(r.directly))
                << r.what << " to " << name_of(type);
        EXPECT_EQ(sent(r.sends, topology_type::single, server_type::standalone), none) << r.what;
    }
}

TEST(command_encoder, mongos_and_members_of_a_set_get_no_preference_where_primary_is_meant)
{
    for (const row& r : table) {
        EXPECT_EQ(sent(r.sends, topology_type::single, server_type::mongos), expected(r.in_a_set))
            << r.what;
        EXPECT_EQ(sent(r.sends, topology_type::sharded, server_type::mongos), expected(r.in_a_set))
            << r.what;
        EXPECT_EQ(sent(r.sends, topology_type::replica_set_with_primary, server_type::rs_primary),
                  expected(r.in_a_set))
            << r.what;
    }
}

TEST(command_encoder, pipeline_that_writes_sends_no_preference_to_servers_before_5_0)
{
    command writes = a_command(retry_kind::write, operation_kind::read, near_new_york);
    writes.writes_output = true;
    EXPECT_EQ(sent(writes, topology_type::single, server_type::rs_primary, 9), none);
    EXPECT_EQ(sent(writes, topology_type::single, server_type::rs_primary, 13), expected(as_given));
}

}  // namespace
}  // namespace holdfast::core::mongo::command_encoder_test
