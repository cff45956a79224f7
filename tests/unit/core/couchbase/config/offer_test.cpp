#include "core/couchbase/config/offer.hpp"

#include "holdfast/couchbase/errc.hpp"
#include "support/config_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace holdfast::core::couchbase::offer_test {
namespace {

using holdfast::couchbase::errc;
using proof::config_text;
using proof::sample_config;
using status = offer_outcome::status;

std::string text_of_revision(std::optional<std::int64_t> epoch, std::int64_t rev)
{
    auto config = sample_config();
    config.revision = {epoch, rev};
    return config_text(config);
}

status offer(config_intake& to, std::string_view text)
{
    return to.consider({.text = text, .host = "h", .bucket = "travel"}).is;
}

TEST(config_intake, first_usable_one_is_taken_after_a_new_start_however_old_it_is)
{
    config_intake intake;
    EXPECT_EQ(offer(intake, text_of_revision(2, 9)), status::taken);
    intake.start_over();
    ASSERT_TRUE(intake.current()) << "it is used until there is another one";
    EXPECT_EQ(intake.consider({.text = "{}", .host = "h", .bucket = "travel"}).is, status::refused);
    EXPECT_TRUE(intake.starts_over());
    EXPECT_EQ(offer(intake, text_of_revision(1, 3)), status::taken);
    EXPECT_FALSE(intake.starts_over());
    EXPECT_EQ(intake.current()->revision, (config_revision{1, 3}));
    EXPECT_EQ(offer(intake, text_of_revision(1, 2)), status::not_newer);
    intake.start_over();
    EXPECT_EQ(offer(intake, text_of_revision(1, 3)), status::taken) << "perhaps of another cluster";
}

TEST(config_intake, newer_revision_is_taken_and_others_are_ignored)
{
    struct row {
        std::optional<std::int64_t> epoch;
        std::int64_t rev;
        status expected;
    };
    config_intake intake;
    EXPECT_EQ(intake.current(), nullptr);
    const row table[] = {
        {std::nullopt, 5, status::taken},
        {std::nullopt, 5, status::not_newer},
        {std::nullopt, 4, status::not_newer},
        {std::nullopt, 6, status::taken},
        {1, 1, status::taken},
        {std::nullopt, 900, status::not_newer},
        {1, 1, status::not_newer},
        {1, 7, status::taken},
        {2, 1, status::taken},
        {1, 8, status::not_newer},
        {0, 900, status::not_newer},
    };
    config_revision newest;
    for (const row& r : table) {
        SCOPED_TRACE(std::to_string(r.epoch.value_or(-1)) + "." + std::to_string(r.rev));
        EXPECT_EQ(offer(intake, text_of_revision(r.epoch, r.rev)), r.expected);
        if (r.expected == status::taken)
            newest = {r.epoch, r.rev};
        ASSERT_TRUE(intake.current());
        EXPECT_EQ(intake.current()->revision, newest);
    }
}

TEST(config_intake, known_revision_is_not_parsed)
{
    config_intake intake;
    std::string text = text_of_revision(1, 10);
    ASSERT_EQ(offer(intake, text), status::taken);
    text.replace(text.find("[0,1]"), 5, "[0,9]");
    EXPECT_EQ(offer(intake, text), status::not_newer) << "its defect is not even seen";
}

TEST(config_intake, revision_that_cannot_be_peeked_at_is_compared_after_parsing)
{
    using place = proof::config_layout::place;
    config_intake intake;
    auto config = sample_config(30);
    const auto text = config_text(config, {.revision = place::middle});
    ASSERT_EQ(peek_revision(text), std::nullopt);
    EXPECT_EQ(offer(intake, text), status::taken);
    EXPECT_EQ(offer(intake, text), status::not_newer);
    config.revision.rev = 9;
    EXPECT_EQ(offer(intake, config_text(config, {.revision = place::middle})), status::not_newer);
}

TEST(config_intake, newer_configuration_that_is_not_usable_leaves_the_last_good_one)
{
    config_intake intake;
    ASSERT_EQ(offer(intake, text_of_revision(1, 10)), status::taken);
    const cluster_config_ptr good = intake.current();
    std::string bad = text_of_revision(1, 11);
    bad.replace(bad.find("[0,1]"), 5, "[0,9]");
    for (int times = 0; times < 2; ++times) {
        const auto outcome = intake.consider({.text = bad, .host = "h", .bucket = "travel"});
        EXPECT_EQ(outcome.is, status::refused);
        EXPECT_EQ(outcome.config, good);
        EXPECT_EQ(intake.current(), good);
        ASSERT_TRUE(outcome.problem);
        EXPECT_EQ(outcome.problem->code(), errc::decoding_failure);
        EXPECT_EQ(outcome.problem->context("path"), "vBucketServerMap.vBucketMap[0]");
    }
    EXPECT_EQ(offer(intake, text_of_revision(1, 11)), status::refused)
        << "a text of the same revision, size and host is not looked at again";
    EXPECT_EQ(intake.consider({text_of_revision(1, 11), "other", "travel"}).is, status::taken);
}

TEST(config_intake, map_without_any_active_node_does_not_replace_one_that_has_some)
{
    auto empty = sample_config();
    std::ranges::fill(empty.bucket->map.nodes, no_node);
    empty.bucket->map.forward.clear();
    empty.revision = {1, 5};
    config_intake intake;
    EXPECT_EQ(offer(intake, config_text(empty)), status::taken) << "it is better than none";
    EXPECT_EQ(offer(intake, text_of_revision(1, 6)), status::taken);
    empty.revision = {1, 7};
    EXPECT_EQ(offer(intake, config_text(empty)), status::refused);
    EXPECT_EQ(intake.current()->revision, (config_revision{1, 6}));
    EXPECT_EQ(offer(intake, text_of_revision(1, 8)), status::taken);
}

TEST(config_intake, refused_first_configuration_leaves_none)
{
    config_intake intake;
    const auto outcome = intake.consider({.text = "garbage", .host = "h", .bucket = "travel"});
    EXPECT_EQ(outcome.is, status::refused);
    EXPECT_TRUE(outcome.problem);
    EXPECT_EQ(intake.current(), nullptr);
    EXPECT_EQ(offer(intake, text_of_revision(1, 1)), status::taken);
}

TEST(config_intake, configuration_of_another_bucket_is_refused)
{
    const std::string text = text_of_revision(1, 10);
    for (const std::string_view expected : {"", "other"}) {
        config_intake intake;
        const auto outcome = intake.consider({.text = text, .host = "h", .bucket = expected});
        EXPECT_EQ(outcome.is, status::refused);
        ASSERT_TRUE(outcome.problem);
        EXPECT_EQ(outcome.problem->context("path"), "name");
        EXPECT_NE(outcome.problem->message().find("travel"), std::string::npos);
    }
}

TEST(config_intake, empty_text_means_that_the_server_has_nothing_newer)
{
    config_intake intake;
    EXPECT_EQ(offer(intake, ""), status::not_newer);
    ASSERT_EQ(offer(intake, text_of_revision(1, 10)), status::taken);
    EXPECT_EQ(intake.consider({.bucket = "travel"}).config, intake.current());
}

TEST(changes_between, nodes_are_added_removed_and_kept_by_their_addresses)
{
    const auto before = sample_config(4);
    auto after = before;
    after.nodes.erase(after.nodes.begin() + 1);
    after.nodes[2].ports.plain[0] = 12'000;
    after.nodes.insert(after.nodes.begin(), cluster_node{.host = "a-new-one.example"});
    const auto changes = changes_between(before, after);
    EXPECT_EQ(changes.added, (std::vector<std::size_t>{0}));
    EXPECT_EQ(changes.removed, (std::vector<std::size_t>{1}));
    EXPECT_EQ(changes.kept,
              (std::vector<config_changes::kept_node>{{0, 1, false}, {2, 2, false}, {3, 3, true}}));
    EXPECT_FALSE(changes.bucket_recreated);
    EXPECT_EQ(changes_between(before, before).kept.size(), 4U);
}

TEST(changes_between, ports_distinguish_nodes_on_one_host)
{
    auto before = sample_config(2);
    for (std::size_t i = 0; i < 2; ++i) {
        before.nodes[i].host = "localhost";
        before.nodes[i].ports = {};
        before.nodes[i].ports.tls[0] = static_cast<std::uint16_t>(11'000 + i);
    }
    auto after = before;
    after.nodes.erase(after.nodes.begin());
    const auto changes = changes_between(before, after);
    EXPECT_EQ(changes.removed, (std::vector<std::size_t>{0}));
    EXPECT_TRUE(changes.added.empty());
    ASSERT_EQ(changes.kept.size(), 1U);
    EXPECT_EQ(changes.kept[0].before, 1U);
}

TEST(changes_between, bucket_with_another_uuid_was_recreated)
{
    const auto before = sample_config();
    auto after = before;
    after.bucket->uuid = "b-2";
    EXPECT_TRUE(changes_between(before, after).bucket_recreated);
    after.bucket.reset();
    EXPECT_FALSE(changes_between(before, after).bucket_recreated);
}

}  // namespace
}  // namespace holdfast::core::couchbase::offer_test
