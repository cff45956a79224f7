#include "lab/couchbase/cluster/cluster_in_sim.hpp"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

namespace holdfast::lab::couchbase::fault_rules_test {
namespace {

using request = cluster_in_sim;
using namespace std::chrono_literals;

/// One node with a fault for each test.
class lab_couchbase_fault_rules : public testing::Test {
protected:
    void set(const couchbase_fault& what) { ASSERT_TRUE(lab.made->faults().set("f", what)); }
    std::int64_t hits() { return lab.made->faults().hits("f"); }
    sim_link& to() { return lab.link(0); }
    got_reply upsert() { return to().ask(request::set(7, "k", "v"), 1s); }
    bool stored() { return lab.made->at(0).buckets.at("travel").find(7)->find({0, "k"}); }
    sim_link fresh() { return sim_link{lab.net, lab.client, "n0"}; }

    cluster_in_sim lab{1, 0};
};

TEST_F(lab_couchbase_fault_rules, request_fits_by_operation_bucket_key_and_connection)
{
    set({.operations = {"get", "0x01"}, .bucket = "travel", .key_prefix = "ab", .status = 0x86});
    EXPECT_EQ(to().ask(request::set(7, "abc", "v")).status, kv_status::temporary_failure);
    EXPECT_EQ(to().ask(request::get(7, "ab")).status, kv_status::temporary_failure);
    EXPECT_EQ(to().ask(request::set(7, "b", "v")).status, kv_status::success);
    EXPECT_EQ(to().ask({.opcode = kv_opcode::noop}).status, kv_status::success);
    EXPECT_EQ(hits(), 2);
    set({.bucket = "other", .status = 0x86});
    EXPECT_EQ(upsert().status, kv_status::success);
    set({.connection = 99, .status = 0x86});
    EXPECT_EQ(upsert().status, kv_status::success);
    set({.nodes = {1}, .status = 0x86});
    EXPECT_EQ(upsert().status, kv_status::success);
}

TEST_F(lab_couchbase_fault_rules, fault_skips_and_happens_so_often_and_ends)
{
    set({.operations = {"upsert"}, .skip = 1, .times = 2, .status = 0x86});
    std::string seen;
    for (int n = 0; n != 5; ++n)
        seen += upsert().status == kv_status::success ? '.' : 'x';
    EXPECT_EQ(seen, ".xx..");
    EXPECT_EQ(hits(), 2);
    set({.operations = {"upsert"}, .status = 0x86});
    EXPECT_EQ(upsert().status, kv_status::temporary_failure);
    EXPECT_TRUE(lab.made->faults().remove("f"));
    EXPECT_FALSE(lab.made->faults().remove("f"));
    EXPECT_EQ(upsert().status, kv_status::success);
}

TEST_F(lab_couchbase_fault_rules, fault_happens_with_its_probability)
{
    set({.operations = {"upsert"}, .probability = 0.25, .status = 0x86});
    for (int n = 0; n != 400; ++n)
        (void)upsert();
    EXPECT_GT(hits(), 60);
    EXPECT_LT(hits(), 140);
}

TEST_F(lab_couchbase_fault_rules, names_that_do_not_exist_are_refused)
{
    fault_rules& rules = lab.made->faults();
    EXPECT_FALSE(rules.set("f", {.operations = {"fetch"}}));
    EXPECT_FALSE(rules.set("f", {.operations = {"0xzz"}}));
    EXPECT_FALSE(rules.set("f", {.damage = "dented"}));
    EXPECT_FALSE(rules.set("", {}));
    EXPECT_TRUE(rules.names().empty());
}

TEST(lab_couchbase_fault_rules_of_all, count_is_one_for_all_nodes_and_new_ones_have_it_too)
{
    cluster_in_sim lab{2, 0};
    ASSERT_TRUE(lab.made->faults().set("f", {.operations = {"noop"}, .times = 3, .status = 0x85}));
    ASSERT_TRUE(lab.made->add_node(lab.next_place()));
    int refused = 0;
    for (const std::size_t n : {0u, 1u, 2u, 0u, 1u, 2u})
        refused += lab.link(n).ask({.opcode = kv_opcode::noop}).status == kv_status::busy ? 1 : 0;
    EXPECT_EQ(refused, 3);
    ASSERT_TRUE(
        lab.made->faults().set("g", {.nodes = {2}, .operations = {"noop"}, .status = 0x84}));
    EXPECT_EQ(lab.link(2).ask({.opcode = kv_opcode::noop}).status, kv_status::internal);
    lab.crash(2);
    lab.restart(2);
    EXPECT_EQ(lab.link(2).ask({.opcode = kv_opcode::noop}).status, kv_status::internal);
}

// F1 is tested with the ports: closed_port_refuses_and_opens_again, frozen_node_takes_requests_...

TEST_F(lab_couchbase_fault_rules, f2_connection_is_cut_before_or_after_the_request)
{
    set({.operations = {"upsert"}, .close_connection = true});
    EXPECT_EQ(upsert().status, kv_status::internal);
    EXPECT_TRUE(to().select_status == kv_status::success);  // a new connection
    EXPECT_FALSE(stored());
    set({.operations = {"upsert"}, .cut_reply_at = 0});
    EXPECT_EQ(upsert().status, kv_status::internal);
    EXPECT_TRUE(stored());
}

TEST_F(lab_couchbase_fault_rules, f3_reply_is_cut_in_the_middle)
{
    set({.operations = {"upsert"}, .cut_reply_at = 25});
    sim_link& link = to();
    const auto opaque = link.send(request::set(7, "k", "v"));
    EXPECT_TRUE(lab.pass_until([&] { return link.over(); }));
    EXPECT_FALSE(link.reply(opaque));
    EXPECT_TRUE(stored());
}

TEST_F(lab_couchbase_fault_rules, f4_f7_f8_any_status_is_answered_with_its_body)
{
    for (const std::uint16_t status :
         {0x07, 0x09, 0x86, 0x88, 0xa2, 0xa4, 0x7ff0, 0x7ff2, 0x1234}) {
        set({.operations = {"upsert"}, .times = 1, .status = status, .body = "b"});
        const auto refused = upsert();
        EXPECT_EQ(refused.status, kv_status{status});
        EXPECT_EQ(refused.value, "b");
        EXPECT_FALSE(stored());
    }
    EXPECT_EQ(upsert().status, kv_status::success);
}

TEST_F(lab_couchbase_fault_rules, f7_error_map_is_replaced)
{
    lab.made->at(0).error_map = R"({"version":2,"revision":9,"errors":{}})";
    const auto map = to().ask(
        {.opcode = kv_opcode::get_error_map, .value = std::string("\0\2", 2)});
    EXPECT_EQ(map.value, R"({"version":2,"revision":9,"errors":{}})");
}

TEST_F(lab_couchbase_fault_rules, f5_f12_locks_and_collection_ids_are_refused_or_not_answered)
{
    set({.operations = {"unlock"}, .status = 0x09});
    EXPECT_EQ(to().ask(request::get(7, "k", kv_opcode::unlock)).status, kv_status::locked);
    const sent_request id{.opcode = kv_opcode::get_collection_id, .value = "_default._default"};
    const sent_request manifest{.opcode = kv_opcode::get_collections_manifest};
    set({.operations = {"get_collection_id"}, .status = 0x88, .body = R"({"manifest_uid":"0"})"});
    EXPECT_EQ(to().ask(id).status, kv_status::unknown_collection);
    set({.operations = {"get_collections_manifest", "get_collection_id"}, .silent = true});
    EXPECT_EQ(to().ask(id, 1s).status, kv_status::internal);
    EXPECT_EQ(to().ask(manifest, 1s).status, kv_status::internal);
    EXPECT_EQ(hits(), 2);
}

TEST_F(lab_couchbase_fault_rules, f9_login_fails_is_cut_or_proves_nothing)
{
    set({.operations = {"sasl_auth"}, .times = 1, .status = 0x20});
    auto first = fresh();
    first.bootstrap("travel");
    EXPECT_EQ(first.login_status, kv_status::auth_error);
    first.bootstrap("travel");
    EXPECT_EQ(first.login_status, kv_status::success);
    set({.operations = {"sasl_auth"}, .close_connection = true});
    auto second = fresh();
    second.bootstrap("travel");
    EXPECT_TRUE(second.over());
    set({.operations = {"sasl_step"}, .status = 0x00, .body = ""});
    const auto bare = fresh().ask({.opcode = kv_opcode::sasl_step, .key = "SCRAM-SHA512"});
    EXPECT_EQ(bare.status, kv_status::success);
    EXPECT_EQ(bare.value, "");
    set({.operations = {"sasl_step"}, .status = 0x00, .body = "v=AAAA"});
    EXPECT_EQ(fresh().ask({.opcode = kv_opcode::sasl_step, .key = "SCRAM-SHA512"}).value, "v=AAAA");
}

TEST_F(lab_couchbase_fault_rules, f11_bucket_is_refused_by_name_and_then_selected)
{
    ASSERT_TRUE(lab.made->create_bucket("other"));
    set({.operations = {"select_bucket"}, .key_prefix = "travel", .times = 1, .status = 0x24});
    auto link = fresh();
    link.bootstrap("travel");
    EXPECT_EQ(link.select_status, kv_status::no_access);
    link.bootstrap("other");
    EXPECT_EQ(link.select_status, kv_status::success);
    link.bootstrap("travel");
    EXPECT_EQ(link.select_status, kv_status::success);
}

TEST_F(lab_couchbase_fault_rules, f13_replies_are_delayed_by_a_fixed_or_drawn_time)
{
    const auto time_of = [&] {
        const time_point began = lab.net.now();
        EXPECT_EQ(upsert().status, kv_status::success);
        return lab.net.now() - began;
    };
    set({.operations = {"upsert"}, .delay = 100ms});
    EXPECT_GE(time_of(), 100ms);
    set({.operations = {"upsert"}, .delay = 10ms, .delay_up_to = 200ms});
    const auto one = time_of();
    EXPECT_GE(one, 10ms);
    EXPECT_LT(one, 210ms);
}

TEST_F(lab_couchbase_fault_rules, f14_node_stops_reading_and_the_client_cannot_write)
{
    set({.operations = {"noop"}, .stop_reading = true});
    sim_link& link = to();
    link.send({.opcode = kv_opcode::noop});
    lab.net.run_for(10ms);
    const auto later = link.send(request::set(7, "k", "v"));
    lab.net.run_for(2s);
    EXPECT_FALSE(link.reply(later));
    EXPECT_FALSE(link.over());
    EXPECT_FALSE(stored());
}

TEST_F(lab_couchbase_fault_rules, f15_f16_replies_are_reordered_doubled_foreign_or_late)
{
    set({.operations = {"get"}, .overtaken_by = 1});
    sim_link& link = to();
    const auto first = link.send(request::get(7, "k"));
    const auto second = link.send({.opcode = kv_opcode::noop});
    EXPECT_TRUE(lab.pass_until([&] { return link.reply(first).has_value(); }));
    const auto& order = link.order();
    EXPECT_EQ((std::vector<std::uint32_t>{order.end() - 2, order.end()}),
              (std::vector<std::uint32_t>{second, first}));
    const std::size_t before = order.size();
    set({.operations = {"get"}, .replies = 2});
    (void)link.ask(request::get(7, "k"));
    lab.net.run_for(10ms);
    EXPECT_EQ(order.size(), before + 2);
    set({.operations = {"get"}, .foreign_opaque = true});
    const auto asked = link.send(request::get(7, "k"));
    lab.net.run_for(10ms);
    EXPECT_FALSE(link.reply(asked));
    EXPECT_EQ(order.size(), before + 3);
    set({.operations = {"get"}, .reply_delay = 3s});
    const auto late = link.send(request::get(7, "k"));
    lab.net.run_for(2900ms);
    EXPECT_FALSE(link.reply(late));
    lab.net.run_for(200ms);
    EXPECT_TRUE(link.reply(late));
}

TEST(lab_couchbase_configurations, f17_service_is_not_shown_for_one_node_or_all)
{
    cluster_in_sim lab{2, 0};
    const auto services = [&](std::size_t asked, std::size_t of) {
        const auto got = lab.link(asked).ask({.opcode = kv_opcode::get_cluster_config}).value;
        return boost::json::parse(got).at("nodesExt").at(of).at("services").as_object();
    };
    lab.made->set_service(0, "n1ql", 8093);
    lab.made->set_service(1, "n1ql", 8093);
    EXPECT_EQ(services(0, 1).at("n1ql").as_int64(), 8093);
    lab.made->set_service(1, "n1ql", 0);
    EXPECT_FALSE(services(0, 1).contains("n1ql"));
    EXPECT_TRUE(services(1, 0).contains("n1ql"));
}

TEST_F(lab_couchbase_fault_rules, f24_error_bodies_are_sent_as_they_are)
{
    std::string deep(100, '[');
    for (const std::string& body : {std::string{R"({"error":{"context":"c","ref":"r"}})"},
                                    std::string{"{not json"}, std::string(1 << 20, 'x'), deep}) {
        set({.operations = {"upsert"}, .status = 0x86, .body = body});
        EXPECT_EQ(upsert().value, body);
    }
}

TEST_F(lab_couchbase_fault_rules, f25_frames_are_broken)
{
    for (const char* const damage : {"wrong_magic", "huge_body", "long_key"}) {
        set({.operations = {"get"}, .damage = damage});
        sim_link& link = to();
        const auto asked = link.send(request::get(7, "k"));
        EXPECT_TRUE(lab.pass_until([&] { return link.over(); }, 1s) || !link.reply(asked))
            << damage;
    }
    lab.links.clear();
    set({.operations = {"get"}, .damage = "unknown_datatype"});
    EXPECT_EQ(static_cast<int>(to().ask(request::get(7, "k")).datatype), 0x40);
}

TEST_F(lab_couchbase_fault_rules, f26_configurations_are_broken)
{
    const auto config = [&](config_damage what) {
        lab.made->at(0).damage = what;
        return to().ask({.opcode = kv_opcode::get_cluster_config}).value;
    };
    const std::string whole = config(config_damage::none);
    for (const auto what :
         {config_damage::no_extended_nodes, config_damage::short_rows,
          config_damage::index_out_of_range, config_damage::all_missing, config_damage::no_vbuckets,
          config_damage::no_servers, config_damage::older_revision, config_damage::other_name,
          config_damage::not_json})
        EXPECT_NE(config(what), whole) << static_cast<int>(what);
    EXPECT_EQ(config(config_damage::none), whole);
}

TEST_F(lab_couchbase_fault_rules, f27_node_fails_for_a_while_and_recovers)
{
    set({.operations = {"upsert"}, .times = 20, .status = 0x86});
    for (int n = 0; n != 20; ++n)
        EXPECT_EQ(upsert().status, kv_status::temporary_failure);
    EXPECT_EQ(upsert().status, kv_status::success);
}

}  // namespace
}  // namespace holdfast::lab::couchbase::fault_rules_test
