#include "client/reading.hpp"

namespace holdfast::proof::cursor_test {
namespace {

using namespace std::chrono_literals;
using bson::doc;

TEST(cursor, get_more_uses_the_session_of_the_find)
{
    reading r{first(42, R"([{"_id": 1}, {"_id": 2}])"),
              {more(42, none), more(42, R"([{"_id": 3}])"), more(0, none)}};
    mongo::cursor all = r.find({.batch_size = 2, .comment = "c"});
    EXPECT_TRUE(all.is_open());
    EXPECT_EQ(r.server.count("find"), 0u) << "no document has been requested yet";
    EXPECT_EQ(r.next(all), 1);
    EXPECT_EQ(all.id(), 42);
    EXPECT_EQ(r.next(all), 2);
    EXPECT_EQ(r.server.count("getMore"), 0u);
    EXPECT_EQ(r.next(all), 3) << "an empty batch is not the end";
    ASSERT_EQ(r.server.count("getMore"), 2u);
    const bson::document asked = r.server.commands("getMore")[0].body;
    EXPECT_EQ(asked.get<std::int64_t>("getMore").value(), 42);
    EXPECT_EQ(asked.get<std::string>("collection").value(), "coll");
    EXPECT_EQ(asked.get<int>("batchSize").value(), 2);
    EXPECT_EQ(asked.get<std::string>("comment").value(), "c");
    EXPECT_EQ(r.lsid("getMore"), r.lsid("find"));

    ASSERT_TRUE(r.s.write().good());
    EXPECT_NE(r.lsid("insert"), r.lsid("find")) << "the cursor needs its session";
    EXPECT_EQ(r.next(all), 0);
    EXPECT_FALSE(all.is_open());
    EXPECT_EQ(r.next(all), 0);
    ASSERT_TRUE(r.s.write().good());
    EXPECT_EQ(r.lsid("insert"), r.lsid("find")) << "now others may have it";
    EXPECT_EQ(r.server.count("getMore"), 3u);
    EXPECT_EQ(r.server.count("killCursors"), 0u);
    expect_clean(r.s);
}

TEST(cursor, implicit_session_is_returned_after_the_only_batch)
{
    reading r{first(0, R"([{"_id": 1}, {"_id": 2}])")};
    mongo::cursor all = r.find();
    EXPECT_EQ(r.next(all), 1);
    EXPECT_EQ(all.id(), 0);
    EXPECT_TRUE(all.is_open()) << "there is one more document";
    ASSERT_TRUE(r.s.write().good());
    EXPECT_EQ(r.lsid("insert"), r.lsid("find"));
    EXPECT_EQ(r.next(all), 2);
    EXPECT_FALSE(all.is_open());
    expect_clean(r.s);
}

TEST(cursor, explicit_session_is_used_and_kept)
{
    reading r{first(42, R"([{"_id": 1}])"), {more(0, R"([{"_id": 2}])")}};
    r.s.settle();
    const mongo::session own = r.s.client->start_session();
    mongo::cursor all = r.find({.session = &own});
    EXPECT_EQ(r.next(all), 1);
    EXPECT_EQ(r.next(all), 2);
    EXPECT_EQ(r.next(all), 0);
    EXPECT_EQ(own.id(), r.lsid("find"));
    EXPECT_EQ(own.id(), r.lsid("getMore"));
    ASSERT_TRUE(r.s.write().good());
    EXPECT_NE(own.id(), r.lsid("insert"));
    expect_clean(r.s);
}

TEST(cursor, get_more_is_retried_after_overload_with_retry_reads)
{
    VERIFIES("BP-010");
    VERIFIES("BP-015");
    struct row {
        const char* settings;
        int found;
        std::size_t asked;
    };
    for (const auto& [settings, found, asked] :
         {row{"", 2, 2}, row{"&retryWrites=false", 2, 2}, row{"&retryReads=false", -1, 1}}) {
        SCOPED_TRACE(settings);
        reading r{first(42, R"([{"_id": 1}])"),
                  {{.body = overload_reply()}, more(0, R"([{"_id": 2}])")},
                  settings};
        mongo::cursor all = r.find();
        EXPECT_EQ(r.next(all), 1);
        EXPECT_EQ(r.next(all), found);
        EXPECT_EQ(r.server.count("getMore"), asked);
        expect_clean(r.s);
    }
}

TEST(cursor, next_batch_returns_the_remaining_documents)
{
    reading r{first(42, R"([{"_id": 1}, {"_id": 2}, {"_id": 3}])"),
              {more(42, none), more(0, R"([{"_id": 4}])")}};
    mongo::cursor all = r.find();
    EXPECT_EQ(r.next(all), 1);
    EXPECT_TRUE(r.next_batch(all).value());
    EXPECT_EQ(r.ids(all.batch()), (std::vector{2, 3})) << "what next() has left";
    EXPECT_TRUE(r.next_batch(all).value());
    EXPECT_EQ(r.ids(all.batch()), (std::vector{4}));
    EXPECT_FALSE(r.next_batch(all).value());
    EXPECT_TRUE(all.batch().empty());
    EXPECT_FALSE(all.is_open());
    expect_clean(r.s);
}

TEST(cursor, all_returns_every_remaining_document)
{
    reading r{first(42, R"([{"_id": 1}, {"_id": 2}])"), {more(0, R"([{"_id": 3}])")}};
    mongo::cursor all = r.find();
    EXPECT_EQ(r.next(all), 1);
    const auto left = r.wait<std::vector<bson::document>>([&](auto done) { all.all(done); });
    ASSERT_EQ(left.value().size(), 2u);
    EXPECT_EQ(left->back().get<int>("_id").value(), 3);
    expect_clean(r.s);
}

boost::asio::awaitable<std::vector<int>> read_in_a_coroutine(mongo::cursor from)
{
    std::vector<int> ids;
    for (;;) {
        const found one = co_await from.next();
        if (!one)
            break;
        ids.push_back(one->get<int>("_id").value());
    }
    co_return ids;
}

TEST(cursor, awaited_cursor_returns_documents_or_throws)
{
    reading r{first(42, R"([{"_id": 1}])"), {more(0, R"([{"_id": 2}, {"_id": 3}])")}};
    std::optional<std::vector<int>> ids;
    std::exception_ptr thrown;
    const auto read = [&](mongo::cursor from) {
        boost::asio::co_spawn(from.executor(), read_in_a_coroutine(from),
                              [&](std::exception_ptr failed, std::vector<int> got) {
                                  thrown = std::move(failed);
                                  ids = std::move(got);
                              });
    };
    read(r.find());
    ASSERT_TRUE(wait_for(r.s, [&] { return ids.has_value(); }));
    EXPECT_EQ(*ids, (std::vector{1, 2, 3}));
    ids.reset();
    read(r.find({.batch_size = -1}));
    ASSERT_TRUE(wait_for(r.s, [&] { return ids.has_value(); }));
    EXPECT_THROW(std::rethrow_exception(thrown), failure);
    expect_clean(r.s);
}

TEST(cursor, tailable_cursor_stays_open_on_an_empty_batch)
{
    reading r{first(42, none), {more(42, none), more(42, R"([{"_id": 1}])"), more(0, none)}};
    mongo::cursor tail = r.find(
        {.cursor = mongo::cursor_kind::tailable_await, .max_await_time = 100ms});
    EXPECT_EQ(r.next(tail), 0);
    EXPECT_TRUE(tail.is_open());
    EXPECT_FALSE(r.next_batch(tail).value());
    EXPECT_TRUE(tail.is_open());
    EXPECT_EQ(r.server.commands("getMore")[0].body.get<int>("maxTimeMS").value(), 100);
    EXPECT_EQ(r.next(tail), 1);
    EXPECT_EQ(r.next(tail), 0);
    EXPECT_FALSE(tail.is_open());
    expect_clean(r.s);
}

TEST(cursor, try_next_sends_at_most_one_get_more)
{
    reading r{first(42, none), {more(42, none), more(42, R"([{"_id": 1}])"), more(0, none)}};
    mongo::cursor some = r.find();
    EXPECT_EQ(r.try_next(some), 0);
    EXPECT_EQ(r.server.count("getMore"), 0u);
    EXPECT_EQ(r.try_next(some), 0);
    EXPECT_EQ(r.try_next(some), 1);
    EXPECT_EQ(r.server.count("getMore"), 2u);
    EXPECT_TRUE(some.is_open());
    EXPECT_EQ(r.try_next(some), 0);
    EXPECT_FALSE(some.is_open());
    expect_clean(r.s);
}

TEST(cursor, limit_ends_the_cursor_although_the_server_keeps_it)
{
    reading r{first(42, R"([{"_id": 1}, {"_id": 2}])"), {more(42, R"([{"_id": 3}])")}};
    mongo::cursor three = r.find({.limit = 3, .batch_size = 2});
    for (const int id : {1, 2, 3, 0})
        EXPECT_EQ(r.next(three), id);
    EXPECT_EQ(r.server.commands("getMore").at(0).body.get<int>("batchSize").value(), 1);
    EXPECT_EQ(r.server.count("getMore"), 1u);
    EXPECT_TRUE(wait_for(r.s, [&] { return r.server.count("killCursors") == 1; }));
    r.s.simulation.run_for(10ms);
    expect_clean(r.s);
}

TEST(cursor, get_more_goes_to_the_server_of_the_cursor)
{
    scene s{{.hosts = {"a", "b"}}};
    scripted_server& secondary = s.server(s.set.primary.starts_with('a') ? "b" : "a");
    secondary.on_command("find", in_turn({first(42, R"([{"_id": 1}])")}));
    secondary.on_command("getMore", in_turn({more(0, R"([{"_id": 2}])")}));
    s.connect();
    s.settle();
    mongo::cursor all = (*s.client)["sea"]["coll"].find(
        doc(), {.read_preference = mongo::read_preference{.mode = mongo::read_mode::secondary}});
    std::optional<result<std::vector<bson::document>>> outcome;
    all.all([&](result<std::vector<bson::document>> got) { outcome.emplace(std::move(got)); });
    ASSERT_TRUE(wait_for(s, [&] { return outcome.has_value(); }));
    EXPECT_EQ(outcome->value().size(), 2u);
    EXPECT_EQ(secondary.count("getMore"), 1u);
    expect_clean(s);
}

}  // namespace
}  // namespace holdfast::proof::cursor_test
