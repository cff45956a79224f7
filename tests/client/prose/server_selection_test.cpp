#include "client/prose/lab_scene.hpp"
#include "client/traffic.hpp"

#include <map>

/// The prose tests of "Server Selection -- Test Plan", by their numbers, which are those of its
/// sections. 2 (round trip times): tests/unit/core/mongo/select/round_trip_test.cpp. Not
/// applicable: 4 (drivers of one thread).
namespace holdfast::proof::server_selection_test {
namespace {

using namespace std::chrono_literals;
using found_one = std::optional<bson::document>;

TEST(prose_server_selection, 1_primary_mode_with_tags_is_refused)
{
    const auto made = mongo::client::create(
        boost::asio::system_executor{},
        "mongodb://a/?readPreference=primary&readPreferenceTags=dc:ny");
    EXPECT_FALSE(made);
    scene s{{.hosts = {"a"}}};
    s.connect();
    const bson::array tags = bson::arr(bson::object("dc", "ny"));
    const operation& op = s.run(
        bson::doc("find", "coll"),
        {.kind = mongo::command_kind::read,
         .read_preference = mongo::read_preference{.tag_sets = tags.view()}});
    ASSERT_FALSE(op.good());
    EXPECT_EQ(mongo::kind_of(op.outcome->error()), mongo::error_kind::client) << op.explain();
    EXPECT_EQ(s.server("a").count("find"), 0U);
    EXPECT_EQ(s.close(), "");
}

constexpr std::pair<mongo::read_mode, const char*> modes[] = {
    {mongo::read_mode::primary, ""},
    {mongo::read_mode::primary_preferred, "primaryPreferred"},
    {mongo::read_mode::secondary, "secondary"},
    {mongo::read_mode::secondary_preferred, "secondaryPreferred"},
    {mongo::read_mode::nearest, "nearest"},
};

TEST(prose_server_selection, 3_read_preference_is_sent_to_mongos)
{
    scene s{{.hosts = {"a"}, .sharded = true}};
    s.connect();
    const bson::array tags = bson::arr(bson::object("dc", "ny"), bson::object());
    for (const auto& [mode, name] : modes) {
        for (const bool tagged : {false, true}) {
            if (tagged && mode == mongo::read_mode::primary)
                continue;
            mongo::read_preference read_preference{.mode = mode};
            if (tagged)
                read_preference.tag_sets = tags.view();
            ASSERT_TRUE(s.run(bson::doc("find", "coll"), {.kind = mongo::command_kind::read,
                                                          .read_preference = read_preference})
                            .good());
            const bson::document sent = s.server("a").commands("find").back().body;
            EXPECT_EQ(sent.get<std::string>("$readPreference.mode").value_or(""), name);
            EXPECT_EQ(sent.get<std::string>("$readPreference.tags.0.dc").value_or(""),
                      tagged ? "ny" : "");
        }
    }
    expect_clean(s);
}

/// How many reads each router has started to answer.
std::map<std::string, std::size_t> reads_by_router(const lab_scene& s, std::size_t skip)
{
    std::map<std::string, std::size_t> counts;
    const auto all = s.started("find");
    for (std::size_t n = skip; n < all.size(); ++n)
        ++counts[all[n].server];
    return counts;
}

runtime::awaitable<result<int>> read_often(mongo::collection from, int times)
{
    const bson::document all = bson::doc();
    for (int n = 0; n < times; ++n) {
        auto one = co_await from.find_one(all.view(), {}, use_awaitable);
        if (!one)
            co_return std::move(one).error();
    }
    co_return times;
}

void read_at_once(lab_scene& s, int readers, int times)
{
    std::vector<pending<int>> all;
    for (int n = 0; n < readers; ++n)
        all.push_back(s.start(read_often(s.test_collection(), times)));
    ASSERT_TRUE(s.finish([&] {
        for (const auto& one : all) {
            if (!one->done())
                return false;
        }
        return true;
    }));
    for (const auto& one : all)
        EXPECT_TRUE(one->good()) << one->explain();
}

TEST(prose_server_selection, 5_busy_mongos_gets_fewer_operations)
{
    lab_scene s{{.routers = 2}};
    s.connect("&localThresholdMS=30000&minPoolSize=10&appName=loadBalancingTest");
    const bson::document one = bson::doc("_id", 1);
    ASSERT_TRUE(s.get(s.test_collection().insert_one(one.view(), {}, use_awaitable)));
    ASSERT_TRUE(s.finish([&] { return s.events().count(heard::connection_ready) >= 20; }));
    s.fail_router(0, R"({"times": 10000})",
                  R"({"failCommands": ["find"], "blockConnection": true, "blockTimeMS": 500,
                      "appName": "loadBalancingTest"})");
    read_at_once(s, 10, 10);
    auto counts = reads_by_router(s, 0);
    EXPECT_LT(counts[s.set->router_address(0)], 25U);
    EXPECT_EQ(counts[s.set->router_address(0)] + counts[s.set->router_address(1)], 100U);

    s.fail_router(0, R"("off")", "{}");
    read_at_once(s, 10, 100);
    counts = reads_by_router(s, 100);
    for (std::size_t router = 0; router < 2; ++router) {
        EXPECT_GE(counts[s.set->router_address(router)], 400U);
        EXPECT_LE(counts[s.set->router_address(router)], 600U);
    }
    s.close();
}

TEST(prose_server_selection, 6_custom_server_selector_is_used)
{
    lab_scene s{{.members = 3}};
    mongo::client_options options;
    options.server_selector = [](std::span<const mongo::server_description> among) {
        std::vector<std::size_t> last;
        for (std::size_t n = 0; n < among.size(); ++n) {
            const auto port = [&](std::size_t of) {
                const std::string& text = among[of].address.value();
                return std::stoi(text.substr(text.rfind(':') + 1));
            };
            if (last.empty() || port(n) > port(last[0]))
                last = {n};
        }
        return last;
    };
    s.connect("&readPreference=nearest", options);
    s.open();
    s.simulation.run_for(1s);
    for (int n = 0; n < 10; ++n) {
        const auto read = s.get(
            s.test_collection().find_one(bson::doc().view(), {}, use_awaitable));
        ASSERT_TRUE(read) << read.error().explain();
    }
    for (const record& one : s.started("find"))
        EXPECT_EQ(one.server, s.address(2));
    EXPECT_EQ(s.started("find").size(), 10U);
    s.close();
}

}  // namespace
}  // namespace holdfast::proof::server_selection_test
