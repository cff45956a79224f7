// The blocking mirror: every operation has both forms, and they work on sockets.
#include "holdfast/couchbase/errc.hpp"
#include "holdfast/couchbase/sync/cluster.hpp"
#include "holdfast/lab/couchbase.hpp"
#include "support/canary.hpp"

#include <boost/describe.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <concepts>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace holdfast::couchbase_sync_mirror_test {

struct airline {
    std::string name;
    int fleet = 0;
    friend bool operator==(const airline&, const airline&) = default;
};
BOOST_DESCRIBE_STRUCT(airline, (), (name, fleet))

namespace {

using namespace std::chrono_literals;
using couchbase::errc;
using couchbase::expiry;
using couchbase::raw_json;
namespace asio = boost::asio;
namespace cb = couchbase;

template <class Async, class Sync, class Try>
inline constexpr bool are_twins = false;
template <class T>
inline constexpr bool are_twins<asio::awaitable<result<T>>, T, result<T>> = true;

/// The same name with the same arguments, in three forms.
#define COUCHBASE_TWINS(async, blocking, name, ...)                                 \
    static_assert(are_twins<decltype(async.name(__VA_ARGS__, asio::use_awaitable)), \
                            decltype(blocking.name(__VA_ARGS__)),                   \
                            decltype(blocking.try_##name(__VA_ARGS__))>)

[[maybe_unused]] void every_operation(const cb::collection& a, const cb::sync::collection& s,
                                      const airline& klm, const cb::lookup& paths,
                                      const cb::changes& edit)
{
    COUCHBASE_TWINS(a, s, get, "k", {});
    COUCHBASE_TWINS(a, s, get_if, "k", {});
    COUCHBASE_TWINS(a, s, exists, "k", {});
    COUCHBASE_TWINS(a, s, upsert, "k", klm, {});
    COUCHBASE_TWINS(a, s, insert, "k", klm, {});
    COUCHBASE_TWINS(a, s, replace, "k", klm, {});
    COUCHBASE_TWINS(a, s, remove, "k", {});
    COUCHBASE_TWINS(a, s, touch, "k", expiry::in(1s), {});
    COUCHBASE_TWINS(a, s, get_and_touch, "k", expiry::in(1s), {});
    COUCHBASE_TWINS(a, s, get_and_lock, "k", 1s, {});
    COUCHBASE_TWINS(a, s, unlock, "k", cb::cas{1}, {});
    COUCHBASE_TWINS(a, s, append, "k", "x", {});
    COUCHBASE_TWINS(a, s, prepend, "k", "x", {});
    COUCHBASE_TWINS(a, s, increment, "k", {});
    COUCHBASE_TWINS(a, s, decrement, "k", {});
    COUCHBASE_TWINS(a, s, lookup_in, "k", paths, {});
    COUCHBASE_TWINS(a, s, mutate_in, "k", edit, {});
    COUCHBASE_TWINS(a, s, get_any_replica, "k", {});
    COUCHBASE_TWINS(a, s, get_all_replicas, "k", {});
    COUCHBASE_TWINS(a, s, lookup_in_any_replica, "k", paths, {});
    COUCHBASE_TWINS(a, s, lookup_in_all_replicas, "k", paths, {});
    static_assert(std::same_as<decltype(s.get<airline>("k")), cb::document<airline>>);
}

[[maybe_unused]] void every_call_of_a_cluster(const cb::cluster& a, const cb::sync::cluster& s)
{
    COUCHBASE_TWINS(a, s, ready, {});
    COUCHBASE_TWINS(a, s, ping, {});
    COUCHBASE_TWINS(a["b"], s["b"], ready, {});
    static_assert(std::same_as<decltype(s["b"]["s"]["c"]), cb::sync::collection>);
    static_assert(std::same_as<decltype(s["b"].default_collection()), cb::sync::collection>);
}
static_assert(std::movable<cb::sync::cluster> && !std::copyable<cb::sync::cluster>);
static_assert(std::copyable<cb::sync::collection> && std::copyable<cb::sync::bucket>);

std::string text_of(const std::string& file)
{
    std::ifstream in{file};
    return {std::istreambuf_iterator<char>{in}, {}};
}

/// What is declared as `auto NAME(std::string_view id` in the header of collections.
std::set<std::string> operations_in(const std::string& header)
{
    std::set<std::string> all;
    const std::regex declared{R"(auto (\w+)\(std::string_view id)"};
    for (std::sregex_iterator at{header.begin(), header.end(), declared}, end; at != end; ++at)
        all.insert((*at)[1]);
    return all;
}

TEST(couchbase_sync_mirror, every_operation_of_the_header_has_both_blocking_forms)
{
    // A new operation is in the header; in the table above it is only if it was put there.
    const auto operations = operations_in(text_of("include/holdfast/couchbase/collection.hpp"));
    const std::string mirror = text_of("include/holdfast/couchbase/sync/collection.hpp");
    const std::string table = text_of("tests/client/couchbase/sync_mirror_test.cpp");
    EXPECT_EQ(operations.size(), 21u);
    for (const std::string& name : operations) {
        const std::regex both{"\\b(try_)?" + name + R"(\(\s*std::string_view id)"};
        const std::sregex_iterator found{mirror.begin(), mirror.end(), both};
        EXPECT_EQ(std::distance(found, std::sregex_iterator{}), 2) << name;
        EXPECT_NE(table.find("COUCHBASE_TWINS(a, s, " + name + ","), std::string::npos) << name;
    }
}

class couchbase_sync : public ::testing::Test {
protected:
    static cb::cluster_options login(const char* password = proof::canary::password)
    {
        cb::cluster_options options;
        options.authenticator = cb::password{proof::canary::user, secret{password}};
        return options;
    }

    lab::couchbase_cluster lab = [] {
        lab::couchbase_options options;
        options.nodes = 2;
        options.buckets = {"travel"};
        options.user = proof::canary::user;
        options.password = proof::canary::password;
        return lab::couchbase_cluster::start(options).value();
    }();
    cb::sync::cluster db{lab.uri(), login()};
    cb::sync::collection all = db["travel"].default_collection();
};

TEST_F(couchbase_sync, documents_are_stored_read_and_removed)
{
    db["travel"].ready();
    EXPECT_TRUE(db.ping().all_answered());
    EXPECT_FALSE(db.diagnostics().key_value.empty());
    const auto stored = all.insert("a", airline{"KLM", 110});
    EXPECT_EQ(all.get<airline>("a").content, (airline{"KLM", 110}));
    EXPECT_EQ(all.exists("a").cas, stored.cas);
    EXPECT_FALSE(all.get_if("b"));
    const auto replaced = all.replace("a", airline{"KLM", 111}, {.cas = stored.cas});
    all.upsert("a", airline{"KLM", 112}, {.expiry = expiry::in(1h)});
    EXPECT_EQ(all.get_and_touch<airline>("a", expiry::in(2h)).content.fleet, 112);
    all.touch("a", expiry::in(3h));
    const auto locked = all.get_and_lock<airline>("a", 5s);
    EXPECT_EQ(all.try_unlock("a", replaced.cas).error().code(), errc::cas_mismatch);
    all.unlock("a", locked.cas);
    all.remove("a");
    EXPECT_THROW(all.remove("a"), failure);
    const auto none = all.try_get("a");
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code(), errc::document_not_found);
    EXPECT_EQ(none.error().history().size(), 1u);
}

TEST_F(couchbase_sync, parts_counters_bytes_and_copies_work_as_well)
{
    EXPECT_EQ(all.increment("n", {.initial = 5}).value, 5u);
    EXPECT_EQ(all.decrement("n").value, 4u);
    all.upsert("t", cb::raw_text{"b"});
    all.append("t", "c");
    all.prepend("t", "a");
    EXPECT_EQ(all.get<cb::raw_text>("t").content.text, "abc");
    all.upsert("a", airline{"KLM", 1});
    all.mutate_in("a", cb::changes{cb::increment("fleet", 9)});
    const cb::lookup paths{cb::get("fleet")};
    EXPECT_EQ(all.lookup_in("a", paths).as<int>(0), 10);
    EXPECT_EQ(all.get_any_replica<airline>("a").content.fleet, 10);
    EXPECT_EQ(all.get_all_replicas<airline>("a").size(), 1u);
    EXPECT_EQ(all.lookup_in_any_replica("a", paths).as<int>(0), 10);
    EXPECT_EQ(all.lookup_in_all_replicas("a", paths).size(), 1u);
}

TEST_F(couchbase_sync, many_threads_share_a_cluster)
{
    constexpr int threads = 8;
    constexpr int times = 50;
    all.increment("n", {.initial = 0});
    {
        std::vector<std::jthread> running;
        for (int n = 0; n != threads; ++n)
            running.emplace_back([this] {
                for (int i = 0; i != times; ++i)
                    all.increment("n");
            });
    }
    EXPECT_EQ(all.increment("n", {.delta = 0}).value, threads * times + 0u);
}

TEST_F(couchbase_sync, errors_come_by_exception_and_by_result)
{
    const cb::sync::cluster refused{lab.uri(), login(proof::canary::wrong_password)};
    const auto none = refused["travel"].default_collection().try_get("a");
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code(), errc::authentication_failure);
    EXPECT_FALSE(refused.try_ready({.timeout = 100ms}));
    EXPECT_THROW(refused["travel"].ready({.timeout = 100ms}), failure);
    EXPECT_FALSE(cb::sync::cluster::create("http://localhost"));
    EXPECT_THROW(cb::sync::cluster{"http://localhost"}, failure);
}

TEST_F(couchbase_sync, handles_outlive_their_cluster_and_report_closed)
{
    all.upsert("a", airline{"KLM", 1});
    {
        cb::sync::cluster moved = std::move(db);
        EXPECT_TRUE(all.try_get("a"));
    }
    const auto closed = all.try_get("a");
    ASSERT_FALSE(closed);
    EXPECT_EQ(closed.error().code(), errc::closed);
}

TEST_F(couchbase_sync, close_ends_the_operations_of_other_threads)
{
    all.upsert("a", airline{"KLM", 1});
    const auto locked = all.get_and_lock("a", 20s);
    std::optional<error_code> code;
    std::jthread waits{[&] {
        const auto late = all.try_upsert("a", airline{"KLM", 2}, {.timeout = 15s});
        code = late ? error_code{} : late.error().code();
    }};
    db.close();
    waits.join();
    EXPECT_EQ(code, errc::closed);
    static_cast<void>(locked);
}

}  // namespace
}  // namespace holdfast::couchbase_sync_mirror_test
