// Reads of several copies of a document, with nodes down and server groups.
#include "client/couchbase/operation_fixture.hpp"
#include "core/couchbase/route/vbucket.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/verifies.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>

#include <chrono>
#include <string>

namespace holdfast::couchbase_replica_read_test {
namespace {

using namespace std::chrono_literals;
using core::couchbase::kv_opcode;
using couchbase::errc;
using couchbase::raw_json;
using couchbase::read_preference;
using proof::use_awaitable;
namespace cb = couchbase;

class couchbase_replica_reads : public proof::operation_fixture {
protected:
    couchbase_replica_reads() : operation_fixture{{.nodes = 3, .replicas = 2}} {}

    /// A document that all copies have.
    void store(const std::string& json = R"({"n":1})")
    {
        const raw_json content{json};
        good(all.upsert("a", content, {}, use_awaitable));
        ASSERT_TRUE(scene.finish([&] { return scene.cluster->in_sync(); }));
    }
    std::size_t active_node()
    {
        return scene.cluster->active_node(
            "travel", core::couchbase::vbucket_of("a", lab::couchbase::vbuckets_of_a_bucket));
    }
    void silence(std::size_t number)
    {
        lab::couchbase::kv_fault silent;
        silent.silent = true;
        for (const kv_opcode one :
             {kv_opcode::get, kv_opcode::get_replica, kv_opcode::subdoc_multi_lookup})
            scene.fault(number, one, silent, lab::activation::always());
    }
};

TEST_F(couchbase_replica_reads, all_copies_are_read_with_the_active_one_first)
{
    VERIFIES_BY_TRAFFIC("CR-076");
    store();
    const auto copies = good(all.get_all_replicas("a", {}, use_awaitable));
    ASSERT_EQ(copies.size(), 3u);
    EXPECT_FALSE(copies[0].is_replica);
    EXPECT_TRUE(copies[1].is_replica);
    EXPECT_TRUE(copies[2].is_replica);
    for (const auto& one : copies) {
        EXPECT_EQ(one.content.text(), R"({"n":1})");
        EXPECT_EQ(one.cas, copies[0].cas);
    }
}

TEST_F(couchbase_replica_reads, first_operation_of_a_cluster_may_be_a_replica_read)
{
    store();
    scene.connect();
    const auto any = scene.run(scene.documents().get_any_replica("a", {}, use_awaitable));
    ASSERT_TRUE(any->good()) << any->explain();
    scene.connect();
    const auto copies = scene.run(scene.documents().get_all_replicas("a", {}, use_awaitable));
    ASSERT_TRUE(copies->good()) << copies->explain();
    EXPECT_EQ((*copies->outcome)->size(), 3u);
}

TEST_F(couchbase_replica_reads, any_replica_answers_while_the_active_node_is_silent)
{
    store();
    good(all.get_any_replica("a", {}, use_awaitable));
    silence(active_node());
    const auto any = scene.run(all.get_any_replica("a", {}, use_awaitable));
    ASSERT_TRUE(any->good()) << any->explain();
    EXPECT_TRUE((*any->outcome)->is_replica);
    EXPECT_LE(any->took(), 5ms);
    const cb::lookup paths{cb::get("n")};
    const auto part = scene.run(all.lookup_in_any_replica("a", paths, {}, use_awaitable));
    ASSERT_TRUE(part->good()) << part->explain();
    EXPECT_TRUE((*part->outcome)->is_replica);
    EXPECT_EQ((*part->outcome)->as<int>(0), 1);
}

TEST_F(couchbase_replica_reads, all_replicas_gives_what_could_be_read_when_its_time_is_over)
{
    store();
    good(all.get_all_replicas("a", {}, use_awaitable));
    scene.host_of(active_node()).crash();
    const auto some = scene.run(all.get_all_replicas("a", {.timeout = 500ms}, use_awaitable));
    ASSERT_TRUE(some->good()) << some->explain();
    EXPECT_EQ((*some->outcome)->size(), 2u);
    EXPECT_EQ(some->took(), 500ms);
    const auto any = scene.run(all.get_any_replica("a", {.timeout = 500ms}, use_awaitable));
    ASSERT_TRUE(any->good()) << any->explain();
    EXPECT_LE(any->took(), 5ms);
}

TEST_F(couchbase_replica_reads, document_that_no_copy_has_is_irretrievable)
{
    store();
    const auto any = scene.run(all.get_any_replica("none", {}, use_awaitable));
    EXPECT_EQ(any->code(), errc::document_irretrievable) << any->explain();
    EXPECT_EQ(any->error().history().size(), 3u) << any->explain();
    EXPECT_NE(any->error().message().find("replica 2"), std::string::npos) << any->explain();
    EXPECT_EQ(any->error().context("bucket"), "travel");
    EXPECT_EQ(code(all.get_all_replicas("none", {}, use_awaitable)), errc::document_irretrievable);
    const cb::lookup paths{cb::get("n")};
    EXPECT_EQ(code(all.lookup_in_all_replicas("none", paths, {}, use_awaitable)),
              errc::document_irretrievable);
}

TEST_F(couchbase_replica_reads, error_that_all_nodes_agree_on_is_given_as_it_is)
{
    store();
    const auto lost = (*scene.client)["travel"].collection("lost");
    const auto refused = scene.run(lost.get_any_replica("a", {}, use_awaitable));
    EXPECT_EQ(refused->code(), errc::collection_not_found) << refused->explain();
    EXPECT_LT(refused->took(), 50ms);
    for (std::size_t n = 0; n != 3; ++n)
        silence(n);
    const auto late = scene.run(all.get_any_replica("a", {.timeout = 300ms}, use_awaitable));
    EXPECT_EQ(late->code(), errc::unambiguous_timeout) << late->explain();
    EXPECT_EQ(late->took(), 300ms);
}

TEST_F(couchbase_replica_reads, lookup_reads_all_copies)
{
    VERIFIES_BY_TRAFFIC("CR-076");
    store();
    const cb::lookup paths{cb::get("n"), cb::get("none")};
    const auto copies = good(all.lookup_in_all_replicas("a", paths, {}, use_awaitable));
    ASSERT_EQ(copies.size(), 3u);
    EXPECT_FALSE(copies[0].is_replica);
    EXPECT_TRUE(copies[2].is_replica);
    for (const auto& one : copies) {
        EXPECT_EQ(one.as<int>(0), 1);
        EXPECT_EQ(one.code(1), errc::path_not_found);
    }
    EXPECT_EQ(code(all.lookup_in_all_replicas("a", cb::lookup{}, {}, use_awaitable)),
              errc::invalid_argument);
}

TEST_F(couchbase_replica_reads, replica_read_is_sent_again_after_a_cut)
{
    VERIFIES_BY_TRAFFIC("CR-076");
    store();
    good(all.get_all_replicas("a", {}, use_awaitable));
    lab::couchbase::kv_fault cut;
    cut.close_connection = true;
    scene.fault_everywhere(kv_opcode::get_replica, cut, lab::activation::times(1));
    EXPECT_EQ(good(all.get_all_replicas("a", {}, use_awaitable)).size(), 3u);
}

TEST_F(couchbase_replica_reads, server_group_limits_the_nodes_that_are_asked)
{
    store();
    const std::size_t active = active_node();
    for (std::size_t n = 0; n != 3; ++n)
        scene.cluster->set_server_group(n, n == active ? "east" : "west");
    EXPECT_EQ(code(all.get_any_replica(
                  "a", {.read_preference = read_preference::selected_server_group}, use_awaitable)),
              errc::invalid_argument)
        << "the cluster was given no group";
    for (const char* const group : {"east", "west", "north"}) {
        scene.connect({}, std::string{"?server_group="} + group);
        const auto in = scene.documents();
        const auto near = scene.run(in.get_all_replicas(
            "a", {.read_preference = read_preference::selected_server_group}, use_awaitable));
        const auto or_all = scene.run(in.get_all_replicas(
            "a", {.read_preference = read_preference::selected_server_group_or_all},
            use_awaitable));
        ASSERT_TRUE(or_all->good()) << or_all->explain();
        if (std::string_view{group} == "north") {
            EXPECT_EQ(near->code(), errc::document_irretrievable) << near->explain();
            EXPECT_EQ((*or_all->outcome)->size(), 3u);
            continue;
        }
        ASSERT_TRUE(near->good()) << near->explain();
        const std::size_t expected = std::string_view{group} == "east" ? 1 : 2;
        EXPECT_EQ((*near->outcome)->size(), expected);
        EXPECT_EQ((*or_all->outcome)->size(), expected);
        for (const auto& one : **near->outcome)
            EXPECT_EQ(one.is_replica, expected == 2);
    }
}

TEST_F(couchbase_replica_reads, reads_go_on_while_a_node_is_lost_and_failed_over)
{
    store();
    good(all.get_any_replica("a", {}, use_awaitable));
    const std::size_t active = active_node();
    scene.host_of(active).crash();
    for (int n = 0; n != 20; ++n) {
        const auto any = scene.run(all.get_any_replica("a", {.timeout = 500ms}, use_awaitable));
        EXPECT_TRUE(any->good()) << any->explain();
        EXPECT_LE(any->took(), 10ms);
        scene.simulation.run_for(10ms);
    }
    ASSERT_TRUE(scene.cluster->fail_over(active));
    scene.simulation.run_for(3s);
    const auto rest = scene.run(all.get_all_replicas("a", {}, use_awaitable));
    ASSERT_TRUE(rest->good()) << rest->explain();
    EXPECT_EQ((*rest->outcome)->size(), 2u);
    EXPECT_FALSE((*rest->outcome)->front().is_replica) << "a replica has become active";
    EXPECT_LE(rest->took(), 10ms) << "a copy without a node is not waited for";
}

TEST_F(couchbase_replica_reads, cancelled_read_ends_at_once)
{
    store();
    good(all.get_all_replicas("a", {}, use_awaitable));
    for (std::size_t n = 0; n != 3; ++n)
        silence(n);
    boost::asio::cancellation_signal stop;
    std::optional<error_code> ended;
    const time_point began = scene.simulation.now();
    all.get_all_replicas("a", {},
                         boost::asio::bind_cancellation_slot(
                             stop.slot(), [&](const auto& got) { ended = got.error().code(); }));
    scene.simulation.run_for(10ms);
    stop.emit(boost::asio::cancellation_type::terminal);
    ASSERT_TRUE(scene.finish([&] { return ended.has_value(); }));
    EXPECT_EQ(*ended, errc::request_canceled);
    EXPECT_EQ(scene.simulation.now() - began, 10ms);
}

TEST_F(couchbase_replica_reads, throwing_form_throws)
{
    store();
    const auto work = [](cb::collection in) -> runtime::awaitable<int> {
        const auto copies = co_await in.get_all_replicas("a");
        int thrown = 0;
        try {
            co_await in.get_any_replica("none");
        } catch (const failure& failed) {
            thrown = failed.error().code() == errc::document_irretrievable;
        }
        co_return static_cast<int>(copies.size()) + thrown;
    };
    EXPECT_EQ(scene.wait_for(work(all)), 4);
}

TEST(couchbase_replica_reads_without_replicas, bucket_without_replicas_has_its_active_copy)
{
    proof::kv_scene scene{{.nodes = 2}};
    scene.connect();
    ASSERT_TRUE(scene.upsert("a", "1")->good());
    scene.connect();
    const auto copies = scene.run(scene.documents().get_all_replicas("a", {}, use_awaitable));
    ASSERT_TRUE(copies->good()) << copies->explain();
    EXPECT_EQ((*copies->outcome)->size(), 1u);
    EXPECT_LT(copies->took(), 50ms);
}

}  // namespace
}  // namespace holdfast::couchbase_replica_read_test
