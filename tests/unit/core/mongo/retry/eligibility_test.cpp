#include "core/mongo/retry/eligibility.hpp"

#include "support/verifies.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::mongo::eligibility_test {
namespace {

TEST(supports_retryable_writes, requires_wire_version_6_sessions_and_no_standalone)
{
    struct row {
        const char* id;
        server_type type;
        std::int32_t wire;
        std::optional<std::int32_t> timeout;
        bool expected;
    };
    const row table[] = {
        // All eight combinations at the edge, and what stands for them further away.
        {"RW-018", server_type::rs_primary, 6, 30, true},
        {"RW-018", server_type::rs_primary, 6, std::nullopt, false},
        {"RW-018", server_type::rs_primary, 5, 30, false},
        {"RW-018", server_type::rs_primary, 5, std::nullopt, false},
        {"RW-018", server_type::standalone, 6, 30, false},
        {"RW-018", server_type::standalone, 6, std::nullopt, false},
        {"RW-018", server_type::standalone, 5, 30, false},
        {"RW-018", server_type::standalone, 5, std::nullopt, false},
        {"RW-018", server_type::mongos, 27, 30, true},
        {"RW-018", server_type::mongos, 27, std::nullopt, false},
        {"RW-018", server_type::mongos, 5, 30, false},
        {"RW-019", server_type::rs_primary, 5, 30, false},
        {"RW-020", server_type::rs_primary, 27, std::nullopt, false},
        {"RW-021", server_type::standalone, 27, 30, false},
        {"RW-018", server_type::load_balancer, 0, std::nullopt, true},
    };
    for (const row& r : table) {
        VERIFIES_ROW(r.id);
        EXPECT_EQ(supports_retryable_writes(r.type, r.wire, r.timeout), r.expected)
            << name_of(r.type) << ' ' << r.wire << ' ' << r.timeout.value_or(-1);
    }
}

TEST(takes_transaction_number, only_acknowledged_single_document_writes_take_one)
{
    struct row {
        const char* id;
        write_command command;
        std::int32_t wire;
        bool expected;
    };
    const row table[] = {
        {"RW-072", {"insert"}, 6, true},
        {"RW-072", {"update"}, 6, true},
        {"RW-072", {"delete"}, 6, true},
        {"RW-072", {"findAndModify"}, 6, true},
        {"RW-072", {"bulkWrite"}, 25, true},
        {"RW-072", {"bulkWrite"}, 24, false},
        {"RW-031", {"update", true}, 27, false},
        {"RW-032", {"delete", true}, 27, false},
        {"RW-029", {"insert", false, false}, 27, false},
        {"RW-034", {"aggregate"}, 27, false},
        {"RW-034", {"renameCollection"}, 27, false},
        {"RW-034", {"create"}, 27, false},
        {"RW-034", {"findandmodify"}, 27, false},
        {"RW-034", {""}, 27, false},
    };
    for (const row& r : table) {
        VERIFIES_ROW(r.id);
        EXPECT_EQ(takes_transaction_number(r.command, r.wire), r.expected) << r.command.name;
    }
}

TEST(touches_many, multi_updates_and_unlimited_deletes_are_detected)
{
    using bson::doc;
    using bson::list;
    using bson::object;
    EXPECT_FALSE(touches_many({}));
    EXPECT_FALSE(touches_many(doc("insert", "c", "updates", list(object("multi", true)))));
    EXPECT_FALSE(touches_many(doc("update", "c")));
    EXPECT_FALSE(touches_many(doc("update", "c", "updates", list(1, object("q", 1)))));
    EXPECT_FALSE(touches_many(doc("update", "c", "updates", list(object("multi", false)))));
    EXPECT_TRUE(
        touches_many(doc("update", "c", "updates", list(object("q", 1), object("multi", true)))));
    EXPECT_FALSE(touches_many(doc("delete", "c", "deletes", list(object("limit", 1)))));
    EXPECT_TRUE(touches_many(doc("delete", "c", "deletes", list(object("limit", 0)))));
    EXPECT_TRUE(touches_many(doc("bulkWrite", 1, "ops", list(object("multi", true)))));
}

TEST(is_retryable_read, retryable_read_commands_are_listed)
{
    for (const char* name : {"find", "aggregate", "distinct", "count", "listDatabases",
                             "listCollections", "listIndexes"})
        EXPECT_TRUE(is_retryable_read(name)) << name;
    for (const char* name : {"getMore", "insert", "ping", "hello", "mapReduce", "Find"})
        EXPECT_FALSE(is_retryable_read(name)) << name;
}

}  // namespace
}  // namespace holdfast::core::mongo::eligibility_test
