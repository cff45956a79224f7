#include "core/mongo/wire/message_builder.hpp"
#include "lab/mongo/set/set_in_sim.hpp"

// Aggregations that write, sent to a secondary: since 5.0 they are carried out by the primary.
namespace holdfast::lab::secondary_writes_test {
namespace {

using namespace std::chrono_literals;

struct answer {
    bson::document reply = {};
    bool done = false;
};

/// Like a client, and unlike set_in_sim::ask(), which members take for one of theirs.
awaitable<void> ask(runtime::world* in, std::string address, bson::document command,
                    std::shared_ptr<answer> into)
{
    const time_point until = in->steady_now() + 5s;
    auto where = mongo::read_address(address);
    auto connected = co_await in->connect(*std::move(where), until);
    if (connected) {
        const runtime::stream_ptr stream = *std::move(connected);
        stream->expires_at(until);
        bson::byte_buffer bytes;
        core::mongo::message_builder builder{bytes, request_id{1}};
        builder.command().merge(command);
        const auto message = builder.finish();
        error_code why = co_await runtime::write_all(*stream, *message);
        core::mongo::frame_reader reader;
        while (!why) {
            const runtime::io_result got = co_await stream->read_some(reader.writable());
            why = got.why;
            reader.received(got.bytes);
            const auto next = reader.next();
            const auto* const whole = std::get_if<core::mongo::frame>(&*next);
            if (why || whole == nullptr)
                continue;
            into->reply = bson::document{core::mongo::parse_message(whole->bytes)->body};
            break;
        }
    }
    into->done = true;
}

class secondary_writes : public testing::Test {
protected:
    std::shared_ptr<answer> begin(std::size_t member, std::string_view json)
    {
        const auto command = bson::from_json(json);
        EXPECT_TRUE(command) << json;
        const auto made = std::make_shared<answer>();
        on.client.start(ask(&on.client.world(), on.set->address(member),
                            bson::document{command->view()}, made));
        return made;
    }
    bson::document run(std::size_t member, std::string_view json)
    {
        const auto asked = begin(member, json);
        EXPECT_TRUE(on.pass_until([&] { return asked->done; }, 10s)) << json;
        return asked->reply;
    }
    void fill()
    {
        ASSERT_TRUE(is_ok(on.run(leads, R"({"insert": "c", "documents": [{"_id": 1}, {"_id": 2}],
            "writeConcern": {"w": "majority"}, "$db": "db"})")));
        on.settle();
    }
    static std::int32_t code_of(const bson::document& reply)
    {
        return reply["code"].get<std::int32_t>().value_or(0);
    }

    set_in_sim on{3};
    std::size_t leads = on.settle();
    std::size_t follows = leads == 0 ? 1 : 0;
};

constexpr std::string_view merge = R"({"aggregate": "c", "pipeline": [{"$match": {"_id": 2}},
    {"$merge": "d"}], "cursor": {}, "writeConcern": {"w": "majority"}, "$db": "db",
    "$readPreference": {"mode": "secondaryPreferred"}})";

TEST_F(secondary_writes, out_and_merge_reach_the_primary)
{
    fill();
    const bson::document merged = run(follows, merge);
    ASSERT_TRUE(is_ok(merged)) << bson::to_json(merged).value();
    EXPECT_EQ(merged.find_path("cursor.firstBatch").as_array().count(), 0U);
    EXPECT_EQ(merged.get<std::int64_t>("cursor.id").value(), 0);
    EXPECT_EQ(merged.get<std::string_view>("cursor.ns").value(), "db.c");
    EXPECT_EQ(on.count(leads, "db.d"), 1U);
    EXPECT_EQ(merged["operationTime"].as_timestamp(), on.set->disk_of(leads).last().ts)
        << "who reads after it sees what was written";
    int oks = 0;
    for (const bson::element& field : merged)
        oks += field.key() == "ok" ? 1 : 0;
    EXPECT_EQ(oks, 1);
    const bson::document out = run(follows, R"({"aggregate": "c", "pipeline": [{"$out": "e"}],
        "cursor": {}, "$db": "db", "$readPreference": {"mode": "secondary"}})");
    ASSERT_TRUE(is_ok(out)) << bson::to_json(out).value();
    EXPECT_EQ(on.count(leads, "db.e"), 2U);
    on.settle();
    EXPECT_EQ(on.count(follows, "db.e"), 2U);
}

TEST_F(secondary_writes, error_of_the_primary_is_forwarded_unchanged)
{
    fill();
    const bson::document twice = run(follows, R"({"aggregate": "c", "pipeline": [{"$merge":
        {"into": "c", "whenMatched": "fail"}}], "cursor": {}, "$db": "db",
        "$readPreference": {"mode": "secondary"}})");
    EXPECT_FALSE(is_ok(twice));
    EXPECT_EQ(code_of(twice), 11000);
    EXPECT_EQ(twice.find_path("keyPattern._id").get<std::int32_t>().value_or(0), 1);
    const bson::document unasked = run(follows, R"({"aggregate": "c", "pipeline": [{"$out": "e"}],
        "cursor": {}, "$db": "db"})");
    EXPECT_EQ(code_of(unasked), 13435) << "without a read preference it is not for secondaries";
    const bson::document insert = run(follows, R"({"insert": "c", "documents": [{"_id": 3}],
        "$db": "db"})");
    EXPECT_EQ(code_of(insert), 10107);
    EXPECT_EQ(code_of(on.run(follows, merge)), 10107) << "no server asks twice";
}

/// The same connections serve for what secondaries answer by themselves.
TEST_F(secondary_writes, statistics_need_no_read_preference)
{
    fill();
    for (const char* const asked :
         {R"({"dbStats": 1, "$db": "db"})", R"({"collStats": "c", "$db": "db"})",
          R"({"dbstats": 1, "$db": "db"})", R"({"collstats": "c", "$db": "db"})"})
        EXPECT_TRUE(is_ok(run(follows, asked))) << asked;
    EXPECT_EQ(code_of(run(follows, R"({"count": "c", "$db": "db"})")), 13435);
}

TEST_F(secondary_writes, write_without_a_primary_is_an_error)
{
    fill();
    on.crash(leads, true);
    const bson::document silent = run(follows, merge);
    EXPECT_FALSE(is_ok(silent)) << bson::to_json(silent).value();
    EXPECT_NE(code_of(silent), 0);
}

TEST_F(secondary_writes, a_member_that_goes_takes_what_waits_with_it)
{
    fill();
    on.cut_off(leads);
    const auto asked = begin(follows, merge);
    on.pass(300ms);
    on.crash(follows);
    on.pass(3s);
    EXPECT_TRUE(asked->done);
    EXPECT_TRUE(asked->reply.empty());
}

TEST(secondary_writes_before_5_0, are_refused)
{
    set_in_sim on{3, 1, [](mongo::deployment_options& options) {
                      options.node.version = *mongo::read_version("4.2");
                  }};
    const std::size_t leads = on.settle();
    const std::string insert = R"({"insert": "c", "documents": [{"_id": 1}], "$db": "db",
        "writeConcern": {"w": 3}})";
    ASSERT_TRUE(is_ok(on.run(leads, insert)));
    const auto made = std::make_shared<answer>();
    on.client.start(ask(&on.client.world(), on.set->address(leads == 0 ? 1 : 0),
                        bson::document{bson::from_json(merge)->view()}, made));
    EXPECT_TRUE(on.pass_until([&] { return made->done; }, 10s));
    EXPECT_EQ(made->reply["code"].get<std::int32_t>().value_or(0), 10107);
}

}  // namespace
}  // namespace holdfast::lab::secondary_writes_test
