#include "core/couchbase/admin/query_indexes.hpp"

#include "holdfast/couchbase/errc.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::core::couchbase::admin_query_indexes_test {
namespace {

using holdfast::couchbase::errc;

constexpr index_keyspace bucket{"travel"};
constexpr index_keyspace airlines{"travel", "inventory", "air`line"};

TEST(couchbase_query_indexes, statements_quote_names_and_keep_keys_as_they_are)
{
    const std::string_view keys[] = {"country", "fleet DESC"};
    EXPECT_EQ(*create_index(bucket, "by", keys, {}),
              "CREATE INDEX `by` ON `travel` (country, fleet DESC) USING GSI");
    EXPECT_EQ(*create_index(airlines, "by", keys,
                            {.deferred = true, .replicas = 1, .condition = "fleet > 0"}),
              "CREATE INDEX `by` ON `travel`.`inventory`.`air``line` (country, fleet DESC) "
              R"(WHERE (fleet > 0) USING GSI WITH {"defer_build":true,"num_replica":1})");
    EXPECT_EQ(*create_primary_index(bucket, {}), "CREATE PRIMARY INDEX ON `travel` USING GSI");
    EXPECT_EQ(*create_primary_index(bucket, {.replicas = 2, .name = "p"}),
              R"(CREATE PRIMARY INDEX `p` ON `travel` USING GSI WITH {"num_replica":2})");
    EXPECT_EQ(*drop_index(bucket, "by"), "DROP INDEX `travel`.`by` USING GSI");
    EXPECT_EQ(*drop_index(airlines, "by"),
              "DROP INDEX `by` ON `travel`.`inventory`.`air``line` USING GSI");
    EXPECT_EQ(*drop_primary_index(bucket, {}), "DROP PRIMARY INDEX ON `travel` USING GSI");
    EXPECT_EQ(*drop_primary_index(bucket, {.name = "p"}), "DROP INDEX `travel`.`p` USING GSI");
    const std::vector<std::string> names{"a", "b"};
    EXPECT_EQ(*build_indexes(bucket, names), "BUILD INDEX ON `travel` (`a`, `b`)");
}

TEST(couchbase_query_indexes, what_makes_no_statement_is_refused)
{
    const std::string_view keys[] = {"a"};
    const std::string_view empty_key[] = {""};
    const auto refused = [](const result<std::string>& made) {
        return !made && made.error().code() == errc::invalid_argument;
    };
    EXPECT_TRUE(refused(create_index({}, "i", keys, {})));
    EXPECT_TRUE(refused(create_index(bucket, "", keys, {})));
    EXPECT_TRUE(refused(create_index(bucket, "i", {}, {})));
    EXPECT_TRUE(refused(create_index(bucket, "i", empty_key, {})));
    EXPECT_TRUE(refused(create_index({"b", "s", ""}, "i", keys, {})));
    EXPECT_TRUE(refused(create_primary_index({"b", "", "c"}, {})));
    EXPECT_TRUE(refused(create_primary_index(bucket, {.condition = "x"})));
    EXPECT_TRUE(refused(drop_index(bucket, "")));
    EXPECT_TRUE(refused(get_all_indexes({})));
}

TEST(couchbase_query_indexes, listings_name_their_keyspace)
{
    EXPECT_EQ(*get_all_indexes({"b", "s", "c"}),
              R"(SELECT idx.* FROM system:indexes AS idx WHERE (idx.bucket_id = "b" AND )"
              R"(idx.scope_id = "s" AND idx.keyspace_id = "c") AND idx.`using` = "gsi" )"
              "ORDER BY idx.is_primary DESC, idx.name ASC");
    EXPECT_EQ(*get_all_indexes({"b\"\\"}),
              R"(SELECT idx.* FROM system:indexes AS idx WHERE ((idx.bucket_id = "b\"\\") OR )"
              R"((idx.bucket_id IS MISSING AND idx.keyspace_id = "b\"\\")) AND idx.`using` = )"
              R"("gsi" ORDER BY idx.is_primary DESC, idx.name ASC)");
}

TEST(couchbase_query_indexes, rows_of_old_and_new_servers_are_read)
{
    const auto of_collection = read_index(
        R"x({"name":"by","using":"gsi","state":"online","bucket_id":"b","scope_id":"s",
            "keyspace_id":"c","index_key":["`country`",7],"condition":"(x)","partition":"p"})x");
    ASSERT_TRUE(of_collection);
    EXPECT_EQ(of_collection->bucket, "b");
    EXPECT_EQ(of_collection->scope, "s");
    EXPECT_EQ(of_collection->collection, "c");
    EXPECT_EQ(of_collection->keys, std::vector<std::string>{"`country`"});
    EXPECT_EQ(of_collection->condition, "(x)");
    EXPECT_EQ(of_collection->partition, "p");
    EXPECT_FALSE(of_collection->is_primary);
    const auto of_bucket = read_index(
        R"({"name":"#primary","using":"gsi","state":"deferred","keyspace_id":"b",
            "is_primary":true,"index_key":[]})");
    ASSERT_TRUE(of_bucket);
    EXPECT_EQ(of_bucket->bucket, "b");
    EXPECT_EQ(of_bucket->collection, "");
    EXPECT_TRUE(of_bucket->is_primary);
    for (const char* const row : {"", "{}", "7", R"({"name":7})"})
        EXPECT_FALSE(read_index(row)) << row;
}

}  // namespace
}  // namespace holdfast::core::couchbase::admin_query_indexes_test
