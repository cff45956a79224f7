#include "lab/couchbase/cluster/cluster_in_sim.hpp"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

namespace holdfast::lab::couchbase::configuration_news_test {
namespace {

using request = cluster_in_sim;

std::unique_ptr<sim_link> subscriber(cluster_in_sim& lab, std::size_t n, bool brief)
{
    auto made = std::make_unique<sim_link>(lab.net, lab.client, lab.hosts[n]->name());
    std::vector<unsigned> features{0x07, 0x0b, 0x0c, 0x12, 0x0d};
    if (brief)
        features.push_back(0x1f);
    made->bootstrap("travel", "ada", "lovelace", features);
    return made;
}

std::int64_t revision_in(const std::string& text)
{
    return boost::json::parse(text).at("rev").as_int64();
}

TEST(lab_couchbase_news, subscriber_gets_each_new_configuration_with_its_revision)
{
    cluster_in_sim lab{2, 0};
    const auto full = subscriber(lab, 0, false);
    const auto brief = subscriber(lab, 0, true);
    sim_link& silent = lab.link(0);
    lab.made->publish();
    lab.net.run_for(milliseconds{20});
    const auto rev = lab.made->view().revision.rev;
    ASSERT_EQ(full->notifications().size(), 1u);
    const got_reply& got = full->notifications().front();
    EXPECT_EQ(got.key, "travel");
    EXPECT_EQ(got.extras,
              std::string(7, '\0') + '\1' + std::string(7, '\0') + static_cast<char>(rev));
    EXPECT_EQ(revision_in(got.value), rev);
    ASSERT_EQ(brief->notifications().size(), 1u);
    EXPECT_EQ(brief->notifications().front().value, "");
    EXPECT_TRUE(silent.notifications().empty());
}

TEST(lab_couchbase_news, policy_changes_what_is_pushed)
{
    cluster_in_sim lab{1, 0};
    const auto to = subscriber(lab, 0, false);
    push_policy& policy = lab.made->at(0).push;
    policy = {.short_extras = true, .copies = 2, .then_older = true};
    lab.made->publish();
    lab.net.run_for(milliseconds{20});
    const auto rev = lab.made->view().revision.rev;
    ASSERT_EQ(to->notifications().size(), 3u);
    EXPECT_EQ(to->notifications()[0].extras, std::string(3, '\0') + static_cast<char>(rev));
    EXPECT_EQ(revision_in(to->notifications()[1].value), rev);
    EXPECT_EQ(revision_in(to->notifications()[2].value), rev - 1);
    policy = {.brief = true, .older_only = true};
    lab.made->publish();
    lab.net.run_for(milliseconds{20});
    ASSERT_EQ(to->notifications().size(), 4u);
    EXPECT_EQ(to->notifications()[3].value, "");
    EXPECT_EQ(to->notifications()[3].extras.back(), static_cast<char>(rev));
    policy = {.enabled = false};
    lab.made->publish();
    lab.net.run_for(milliseconds{20});
    EXPECT_EQ(to->notifications().size(), 4u);
}

TEST(lab_couchbase_news, poll_with_the_known_version_gets_what_is_newer_only)
{
    cluster_in_sim lab{1, 0};
    sim_link& to = lab.link(0);
    const auto version = [](std::uint64_t epoch, std::uint64_t rev) {
        core::couchbase::kv_extras extras;
        extras.add(epoch).add(rev);
        return std::string{core::couchbase::as_text(extras.bytes())};
    };
    const auto rev = static_cast<std::uint64_t>(lab.made->view().revision.rev);
    sent_request poll{.opcode = kv_opcode::get_cluster_config, .extras = version(1, rev)};
    EXPECT_EQ(to.ask(poll).value, "");
    poll.extras = version(1, rev - 1);
    EXPECT_EQ(revision_in(to.ask(poll).value), static_cast<std::int64_t>(rev));
    lab.made->begin_epoch();
    poll.extras = version(1, rev + 100);
    const auto got = to.ask(poll).value;
    EXPECT_EQ(revision_in(got), 1);
    EXPECT_EQ(boost::json::parse(got).at("revEpoch").as_int64(), 2);
}

TEST(lab_couchbase_news, refusal_carries_what_the_policy_says)
{
    cluster_in_sim lab{2, 0, 1, [](cluster_options& o) { o.buckets = {"travel", "other"}; }};
    lab.made->publish();
    const std::size_t wrong = 1 - lab.owner(7);
    sim_link& to = lab.link(wrong);
    node& on = lab.made->at(wrong);
    const auto rev = lab.made->view().revision.rev;
    EXPECT_EQ(revision_in(to.ask(request::get(7, "k")).value), rev);
    EXPECT_EQ(to.ask(request::get(7, "k")).value, "");  // the client has it
    on.refusals = refusal_body::stale;
    EXPECT_EQ(revision_in(to.ask(request::get(7, "k")).value), rev - 1);
    on.refusals = refusal_body::other_bucket;
    EXPECT_NE(to.ask(request::get(7, "k")).value.find(R"("name":"other")"), std::string::npos);
    on.refusals = refusal_body::garbage;
    EXPECT_EQ(to.ask(request::get(7, "k")).value, R"({"rev":)");
    on.refusals = refusal_body::empty;
    const auto last = to.ask(request::get(7, "k"));
    EXPECT_EQ(last.value, "");
    EXPECT_EQ(last.status, kv_status::not_my_vbucket);
}

TEST(lab_couchbase_news, nodes_disagree_while_one_is_held_or_lags)
{
    cluster_in_sim lab{2, 0};
    lab.made->hold_configuration(0, true);
    lab.made->set_configuration_lag(1, milliseconds{300});
    const auto before = lab.made->at(0).members.revision;
    lab.made->publish();
    EXPECT_EQ(lab.made->at(1).members.revision, before);
    lab.net.run_for(milliseconds{310});
    EXPECT_EQ(lab.made->at(1).members.revision.rev, before.rev + 1);
    EXPECT_EQ(lab.made->at(0).members.revision, before);
    lab.made->hold_configuration(0, false);
    EXPECT_EQ(lab.made->at(0).members.revision.rev, before.rev + 1);
}

TEST(lab_couchbase_news, node_behind_on_the_manifest_does_not_know_a_collection)
{
    cluster_in_sim lab{2, 0};
    lab.made->hold_manifest(0, true);
    lab.made->create_collection("travel", "_default", "c");
    const sent_request ask{.opcode = kv_opcode::get_collection_id, .value = "_default.c"};
    EXPECT_EQ(lab.link(0).ask(ask).status, kv_status::unknown_collection);
    EXPECT_EQ(lab.link(1).ask(ask).status, kv_status::success);
    lab.made->hold_manifest(0, false);
    EXPECT_EQ(lab.link(0).ask(ask).status, kv_status::success);
}

TEST(lab_couchbase_news, nodes_learn_of_a_collection_one_after_the_other)
{
    cluster_in_sim lab{2, 0};
    lab.made->admin().set_manifest_lag(1, milliseconds{300});
    lab.made->create_collection("travel", "_default", "c");
    const sent_request ask{.opcode = kv_opcode::get_collection_id, .value = "_default.c"};
    EXPECT_EQ(lab.link(0).ask(ask).status, kv_status::success);
    EXPECT_EQ(lab.link(1).ask(ask).status, kv_status::unknown_collection);
    lab.net.run_for(milliseconds{310});
    EXPECT_EQ(lab.link(1).ask(ask).status, kv_status::success);
}

TEST(lab_couchbase_news, dropped_bucket_closes_its_connections_and_comes_back_empty)
{
    cluster_in_sim lab{2, 1};
    lab.settle();
    const std::string uuid = lab.made->layout("travel")->uuid;
    lab.link(lab.owner(7)).ask(request::set(7, "k", "v"));
    sim_link& old = lab.link(0);
    ASSERT_TRUE(lab.made->drop_bucket("travel"));
    lab.net.run_for(milliseconds{20});
    EXPECT_TRUE(old.over());
    EXPECT_FALSE(lab.made->drop_bucket("travel"));
    sim_link again{lab.net, lab.client, "n0"};
    again.bootstrap("travel");
    EXPECT_EQ(again.select_status, kv_status::no_access);
    ASSERT_TRUE(lab.made->create_bucket("travel", 1));
    EXPECT_NE(lab.made->layout("travel")->uuid, uuid);
    const std::size_t owner = lab.owner(7);
    EXPECT_EQ(lab.link(owner).ask(request::get(7, "k")).status, kv_status::not_found);
    EXPECT_EQ(lab.link(owner).ask(request::durable(7, "k", "w")).status, kv_status::success);
    lab.settle();
}

TEST(lab_couchbase_news, flushed_bucket_is_empty_on_all_copies_and_replicates_on)
{
    cluster_in_sim lab{2, 1};
    lab.settle();
    const std::size_t owner = lab.owner(7);
    lab.link(owner).ask(request::set(7, "k", "v"));
    lab.settle();
    ASSERT_TRUE(lab.made->flush_bucket("travel"));
    EXPECT_EQ(lab.link(owner).ask(request::get(7, "k")).status, kv_status::not_found);
    EXPECT_EQ(lab.link(owner).ask(request::durable(7, "l", "w")).status, kv_status::success);
    lab.settle();
    sim_link& copy = lab.link(1 - owner);
    EXPECT_EQ(copy.ask(request::get(7, "l", kv_opcode::get_replica)).value, "w");
    EXPECT_EQ(copy.ask(request::get(7, "k", kv_opcode::get_replica)).status, kv_status::not_found);
}

TEST(lab_couchbase_news, changed_password_and_rights_hold_for_new_logins_and_operations)
{
    cluster_in_sim lab{1, 0};
    sim_link& old = lab.link(0);
    ASSERT_TRUE(lab.made->set_user("ada", "byron"));
    EXPECT_EQ(old.ask(request::set(7, "k", "v")).status, kv_status::success);
    sim_link fresh{lab.net, lab.client, "n0"};
    fresh.bootstrap("travel");
    EXPECT_EQ(fresh.login_status, kv_status::auth_error);
    fresh.bootstrap("travel", "ada", "byron");
    EXPECT_EQ(fresh.select_status, kv_status::success);
    ASSERT_TRUE(lab.made->set_user("ada", "byron", {"elsewhere"}));
    EXPECT_EQ(fresh.ask(request::get(7, "k")).status, kv_status::no_access);
    ASSERT_TRUE(lab.made->set_user("ada", "byron"));
    EXPECT_EQ(fresh.ask(request::get(7, "k")).status, kv_status::success);
    lab.made->expire_logins("ada");
    EXPECT_EQ(fresh.ask(request::get(7, "k")).status, kv_status::auth_stale);
    fresh.bootstrap("travel", "ada", "byron");
    EXPECT_EQ(fresh.ask(request::get(7, "k")).status, kv_status::success);
    lab.made->drop_user("ada");
    EXPECT_EQ(fresh.ask(request::get(7, "k")).status, kv_status::success);
    fresh.bootstrap("travel", "ada", "byron");
    EXPECT_EQ(fresh.login_status, kv_status::auth_error);
}

}  // namespace
}  // namespace holdfast::lab::couchbase::configuration_news_test
