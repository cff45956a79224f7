#include "core/couchbase/route/collection_ids.hpp"

#include "holdfast/couchbase/errc.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::couchbase::collection_ids_test {
namespace {

using holdfast::couchbase::errc;
using waiters = std::vector<waiter_id>;

const collection_step must_look_up{look_up{}};
const collection_step must_wait{wait_for_look_up{}};

collection_step id_is(std::uint32_t id)
{
    return use_id{id};
}
collection_step unknown_is(unknown_name what)
{
    return name_is_unknown{what};
}

TEST(collection_path, joins_names_and_refuses_those_that_no_server_takes)
{
    EXPECT_EQ(collection_path("inventory", "air-line_%1").value(), "inventory.air-line_%1");
    EXPECT_EQ(collection_path("_default", "_default").value(), "_default._default");
    EXPECT_TRUE(collection_path("s", std::string(251, 'c')));
    for (const std::string& name : {std::string{}, std::string{"a.b"}, std::string{"%a"},
                                    std::string{"a b"}, std::string(252, 'c')}) {
        const auto refused = collection_path(name, "c");
        ASSERT_FALSE(refused) << name;
        EXPECT_EQ(refused.error().code(), errc::invalid_argument);
        EXPECT_FALSE(collection_path("s", name)) << name;
    }
}

TEST(collection_ids, default_collection_needs_no_look_up)
{
    collection_ids ids;
    EXPECT_EQ(ids.ask("_default._default", 1), id_is(0));
    EXPECT_FALSE(ids.outdated("_default._default", 0, 9));
    EXPECT_EQ(ids.size(), 0U);
}

TEST(collection_ids, one_request_looks_up_and_all_others_wait_for_it)
{
    collection_ids ids;
    EXPECT_EQ(ids.ask("s.a", 1), must_look_up);
    EXPECT_EQ(ids.ask("s.a", 3), must_wait);
    EXPECT_EQ(ids.ask("s.a", 2), must_wait);
    EXPECT_EQ(ids.ask("s.b", 4), must_look_up) << "another path";
    EXPECT_EQ(ids.found("s.a", 9, 1), (waiters{2, 3}));
    EXPECT_EQ(ids.ask("s.a", 2), id_is(9));
    EXPECT_EQ(ids.ask("s.a", 5), id_is(9));
    EXPECT_EQ(ids.found("s.a", 10, 1), waiters{}) << "a second report changes nothing";
    EXPECT_EQ(ids.ask("s.a", 6), id_is(9));
}

TEST(collection_ids, after_a_failed_look_up_the_next_to_ask_looks_up)
{
    collection_ids ids;
    EXPECT_EQ(ids.ask("s.a", 1), must_look_up);
    EXPECT_EQ(ids.ask("s.a", 2), must_wait);
    EXPECT_EQ(ids.ask("s.a", 3), must_wait);
    EXPECT_EQ(ids.failed("s.a"), (waiters{2, 3}));
    EXPECT_EQ(ids.ask("s.a", 2), must_look_up);
    EXPECT_EQ(ids.ask("s.a", 3), must_wait);
}

TEST(collection_ids, waiter_that_is_forgotten_is_not_notified)
{
    collection_ids ids;
    ids.ask("s.a", 1);
    ids.ask("s.a", 2);
    ids.ask("s.a", 3);
    ids.forget("s.a", 2);
    ids.forget("s.b", 2);
    EXPECT_EQ(ids.found("s.a", 9, 1), waiters{3});
    ids.forget("s.a", 3);
    EXPECT_EQ(ids.ask("s.a", 4), id_is(9));
}

TEST(collection_ids, unknown_name_is_the_answer_of_those_who_waited_and_of_no_other)
{
    collection_ids ids;
    ids.ask("s.a", 1);
    ids.ask("s.a", 2);
    ids.ask("s.a", 3);
    EXPECT_EQ(ids.not_found("s.a", unknown_name::scope, 5), (waiters{2, 3}));
    ids.manifest_seen(5);
    ids.manifest_seen(4);
    EXPECT_EQ(ids.ask("s.a", 2), unknown_is(unknown_name::scope));
    EXPECT_EQ(ids.ask("s.a", 1), unknown_is(unknown_name::scope));
    EXPECT_EQ(ids.ask("s.a", 1), must_look_up) << "a retry: the scope may have been created";
    EXPECT_EQ(ids.ask("s.a", 3), must_wait) << "the new look-up answers this one as well";
    EXPECT_EQ(ids.found("s.a", 9, 6), waiters{3});
}

TEST(collection_ids, request_that_has_not_waited_is_not_answered_by_an_unknown_name)
{
    collection_ids ids;
    ids.ask("s.a", 1);
    ids.ask("s.a", 2);
    ids.not_found("s.a", unknown_name::collection, 5);
    ids.forget("s.a", 2);
    EXPECT_EQ(ids.ask("s.a", 2), must_look_up);
}

TEST(collection_ids, unknown_name_of_a_server_with_an_older_manifest_may_be_news_to_it)
{
    collection_ids ids;
    ids.manifest_seen(6);
    ids.ask("s.a", 1);
    EXPECT_EQ(ids.not_found("s.a", unknown_name::collection, 5), waiters{});
    EXPECT_EQ(ids.ask("s.a", 1), (collection_step{server_is_behind{}}));
    EXPECT_EQ(ids.ask("s.a", 1), must_look_up);
    EXPECT_EQ(ids.not_found("s.a", unknown_name::collection, std::nullopt), waiters{});
    EXPECT_EQ(ids.ask("s.a", 1), unknown_is(unknown_name::collection));
}

TEST(collection_ids, id_that_a_server_does_not_know_is_dropped_once)
{
    collection_ids ids;
    ids.ask("s.a", 1);
    ids.found("s.a", 9, 3);
    EXPECT_TRUE(ids.outdated("s.a", 9, 3));
    EXPECT_EQ(ids.ask("s.a", 2), must_look_up);
    EXPECT_TRUE(ids.outdated("s.a", 9, 4)) << "a late reply during the look-up";
    EXPECT_EQ(ids.ask("s.a", 3), must_wait) << "the look-up goes on";
    ids.found("s.a", 10, 4);
    EXPECT_TRUE(ids.outdated("s.a", 9, 4)) << "the old id again";
    EXPECT_EQ(ids.ask("s.a", 4), id_is(10));
    EXPECT_TRUE(ids.outdated("s.a", 10, std::nullopt));
    EXPECT_EQ(ids.ask("s.a", 5), must_look_up);
}

TEST(collection_ids, id_is_kept_if_the_server_is_behind)
{
    collection_ids ids;
    ids.ask("s.a", 1);
    ids.found("s.a", 9, 3);
    EXPECT_FALSE(ids.outdated("s.a", 9, 2));
    EXPECT_EQ(ids.ask("s.a", 2), id_is(9));
}

TEST(collection_ids, version_changes_when_an_id_may_not_be_valid_any_more)
{
    collection_ids ids;
    ids.ask("s.a", 1);
    ids.found("s.a", 9, 3);
    const std::uint64_t known = ids.version();
    ids.ask("s.b", 2);
    ids.found("s.b", 10, 3);
    EXPECT_EQ(ids.version(), known) << "what is known of others stays";
    EXPECT_FALSE(ids.outdated("s.a", 9, 2));
    EXPECT_EQ(ids.version(), known) << "the server is behind";
    EXPECT_TRUE(ids.outdated("s.a", 9, 3));
    const std::uint64_t dropped = ids.version();
    EXPECT_NE(dropped, known);
    ids.bucket_recreated();
    EXPECT_NE(ids.version(), dropped);
}

TEST(collection_ids, recreated_bucket_has_no_ids_and_discards_look_ups_under_way)
{
    collection_ids ids;
    ids.ask("s.a", 1);
    ids.found("s.a", 9, 30);
    ids.ask("s.b", 2);
    ids.ask("s.b", 3);
    ids.bucket_recreated();
    EXPECT_EQ(ids.ask("s.a", 4), must_look_up);
    EXPECT_EQ(ids.found("s.b", 10, 30), waiters{3});
    EXPECT_EQ(ids.ask("s.b", 3), must_look_up);
    ids.not_found("s.b", unknown_name::collection, 1);
    EXPECT_EQ(ids.ask("s.b", 3), unknown_is(unknown_name::collection))
        << "the manifests of the old bucket do not count";
}

TEST(collection_ids, recreated_bucket_counts_its_manifests_anew)
{
    collection_ids ids;
    ids.manifest_seen(30);
    ids.bucket_recreated();
    ids.ask("s.a", 1);
    ids.not_found("s.a", unknown_name::collection, 1);
    EXPECT_EQ(ids.ask("s.a", 1), unknown_is(unknown_name::collection));
}

TEST(collection_ids, table_and_waiters_have_limits)
{
    collection_ids ids;
    for (std::size_t i = 0; i < max_collections; ++i)
        ids.ask("s." + std::to_string(i), 1);
    EXPECT_EQ(ids.ask("s.x", 1), collection_step{too_many_waiters{}}) << "all are being looked up";
    ids.found("s.0", 7, 1);
    EXPECT_EQ(ids.ask("s.x", 1), must_look_up);
    EXPECT_EQ(ids.size(), max_collections);

    collection_ids one;
    one.ask("s.a", 0);
    for (waiter_id who = 1; who <= max_collection_waiters; ++who)
        ASSERT_EQ(one.ask("s.a", who), must_wait);
    EXPECT_EQ(one.ask("s.a", max_collection_waiters + 1), collection_step{too_many_waiters{}});
    EXPECT_EQ(one.failed("s.a").size(), max_collection_waiters);
}

}  // namespace
}  // namespace holdfast::core::couchbase::collection_ids_test
