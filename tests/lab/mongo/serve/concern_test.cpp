#include "lab/mongo/peer/peer.hpp"
#include "lab/mongo/serve/served_node.hpp"

namespace holdfast::lab::mongo::concern_test {
namespace {

class concern : public served_node {
protected:
    void SetUp() override { set = &start_in_set(); }

    static constexpr std::string_view session =
        R"("lsid": {"id": {"$uuid": "00112233-4455-6677-8899-aabbccddeeff"}},
           "txnNumber": {"$numberLong": "1"})";
    static std::string write(std::string_view text)
    {
        return R"({"insert": "boats", )" + std::string{session} + R"(, "writeConcern": )" +
               std::string{text} + R"(, "$db": "sea"})";
    }
    pretended_set* set = nullptr;
};

TEST_F(concern, write_concern_majority_waits_for_replication)
{
    set->concern = concern_state::pending;
    net.at_time(net.now() + 700ms, [this] {
        set->concern = concern_state::met;
        server->news.notify();
    });
    auto client = connect();
    const time_point began = net.now();
    const auto reply = run(*client, write(R"({"w": 2})"));
    EXPECT_TRUE(ok(reply));
    EXPECT_FALSE(reply.find("writeConcernError")) << text_of(reply);
    EXPECT_GT(net.now() - began, 690ms);
}

TEST_F(concern, write_concern_wait_ends_with_wtimeout)
{
    set->concern = concern_state::pending;
    auto client = connect();
    const time_point began = net.now();
    const auto reply = run(*client, write(R"({"w": "majority", "wtimeout": 300})"));
    EXPECT_EQ(net.now() - began, 302ms);
    EXPECT_TRUE(ok(reply)) << "the write was carried out";
    EXPECT_EQ(reply.get<int>("n").value_or(0), 1);
    const bson::element wrong = reply.find("writeConcernError");
    ASSERT_EQ(wrong.type(), bson::type::document);
    EXPECT_EQ(wrong.as_document().get<int>("code").value_or(0), 64);
    EXPECT_EQ(wrong.as_document().get<std::string>("errmsg").value_or(""),
              "waiting for replication timed out");
    EXPECT_TRUE(wrong.as_document().get<bool>("errInfo.wtimeout").value_or(false));
    EXPECT_EQ(wrong.as_document().get<std::string>("errInfo.writeConcern.w").value_or(""),
              "majority");
    EXPECT_EQ(wrong.as_document().get<int>("errInfo.writeConcern.wtimeout").value_or(0), 300);
    EXPECT_TRUE(labels_of(reply).empty()) << "64 is not retryable";
}

TEST_F(concern, write_concern_wait_is_limited_by_max_time_ms)
{
    set->concern = concern_state::pending;
    auto client = connect();
    const auto reply = run(*client, R"({"insert": "boats", "writeConcern": {"w": 3},
        "maxTimeMS": 200, "$db": "sea"})");
    EXPECT_EQ(reply.get<int>("writeConcernError.code").value_or(0), 50) << text_of(reply);
}

TEST_F(concern, write_concern_wait_ends_when_the_primary_steps_down)
{
    set->concern = concern_state::pending;
    net.at_time(net.now() + 50ms, [this] {
        set->concern = concern_state::impossible;
        server->news.notify();
    });
    auto client = connect();
    const auto reply = run(*client, write(R"({"w": 2})"));
    EXPECT_EQ(reply.get<int>("writeConcernError.code").value_or(0), 11602) << text_of(reply);
    EXPECT_EQ(labels_of(reply), std::vector<std::string>{"RetryableWriteError"});
}

TEST_F(concern, unsatisfiable_w_is_a_write_concern_error_after_the_write)
{
    set->refusal = refuse(server_code::unsatisfiable_write_concern,
                          "Not enough data-bearing nodes");
    auto client = connect();
    const auto before = on_disk->last();
    const auto reply = run(*client, write(R"({"w": 9})"));
    EXPECT_TRUE(ok(reply));
    EXPECT_GT(on_disk->last(), before);
    EXPECT_EQ(reply.get<int>("writeConcernError.code").value_or(0), 100) << text_of(reply);
}

TEST_F(concern, default_write_concern_applies_with_its_provenance)
{
    set->concern = concern_state::pending;
    set->usual.majority = true;
    set->usual.timeout_ms = 100;
    auto client = connect();
    const auto reply = run(*client, R"({"insert": "boats", "$db": "sea"})");
    EXPECT_EQ(reply.get<int>("writeConcernError.code").value_or(0), 64) << text_of(reply);
    EXPECT_EQ(
        reply.get<std::string>("writeConcernError.errInfo.writeConcern.provenance").value_or(""),
        "implicitDefault");
}

TEST_F(concern, write_concern_0_waits_for_no_member)
{
    set->concern = concern_state::pending;
    auto client = connect();
    const time_point began = net.now();
    EXPECT_TRUE(ok(run(*client, R"({"insert": "boats", "writeConcern": {"w": 0}, "$db": "sea"})")));
    EXPECT_EQ(net.now() - began, 2ms);
}

/// What one server of the lab says to another.
class peers : public served_node {
protected:
    void SetUp() override { start_in_set(); }

    runtime::awaitable<void> talk()
    {
        runtime::destination where{"server", 27017};
        auto made = co_await peer::connect(here.world(), std::move(where), nullptr,
                                           here.world().steady_now() + 5s);
        EXPECT_TRUE(made) << made.error().message();
        const bson::document read = bson::doc("read", 1, "$db", "sea");
        const auto reply = co_await (*made)->ask(read, runtime::never);
        EXPECT_TRUE(reply);
        internal_reply = bson::document{*reply};
        const bson::document wrong = bson::doc("frobnicate", 1, "$db", "sea");
        const auto refused = co_await (*made)->ask(wrong, runtime::never);
        EXPECT_TRUE(refused) << "ok: 0 is an answer";
        EXPECT_FALSE((*made)->broken());
        const bson::document wait = bson::doc("wait", 1, "$db", "sea");
        const auto late = co_await (*made)->ask(wait, here.world().steady_now() + 100ms);
        EXPECT_FALSE(late);
        EXPECT_TRUE((*made)->broken());
        ready = true;
    }
    runtime::awaitable<void> talk_without_reply()
    {
        runtime::destination where{"server", 1};
        const auto made = co_await peer::connect(here.world(), std::move(where), nullptr,
                                                 here.world().steady_now() + 1s);
        EXPECT_FALSE(made);
        ready = true;
    }

    bson::document internal_reply;
};

TEST_F(peers, ask_and_are_answered)
{
    static_cast<pretended_set&>(*server->member).primary = false;
    here.start(talk());
    EXPECT_TRUE(net.run_while_not([this] { return ready; }));
    EXPECT_TRUE(ok(internal_reply)) << "a member may read from every member";
}

TEST_F(peers, connect_fails_where_no_server_listens)
{
    here.start(talk_without_reply());
    EXPECT_TRUE(net.run_while_not([this] { return ready; }));
}

}  // namespace
}  // namespace holdfast::lab::mongo::concern_test
