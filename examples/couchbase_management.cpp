// The administration of a cluster: buckets, collections, users, query indexes, and whatever else
// its services can be asked over HTTP.
#include <holdfast/couchbase/cluster.hpp>
#include <holdfast/lab/couchbase.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>

namespace asio = boost::asio;
namespace hf = holdfast;
namespace cb = holdfast::couchbase;
using namespace std::chrono_literals;

namespace {

asio::awaitable<void> buckets(cb::cluster db)
{
    const cb::bucket_admin all = db.buckets();
    co_await all.create("shop", {.ram_quota_mb = 100, .replicas = 0, .flush_enabled = true});
    const auto again = co_await all.create("shop", {}, {}, asio::use_awaitable);
    if (!again && again.error().code() == cb::errc::bucket_exists)
        std::cout << "there is a shop already\n";

    co_await all.update("shop", {.max_expiry = 24h});
    const auto shop = co_await all.get("shop");
    std::cout << shop.name << " has " << shop.ram_quota_mb << " MB\n";
    co_await all.flush("shop");
}

asio::awaitable<void> collections(cb::bucket shop)
{
    const cb::collection_admin all = shop.collections();
    co_await all.create_scope("europe");
    co_await all.create_collection("europe", "orders", {.max_expiry = 1h});
    const auto scopes = co_await all.get_all_scopes();
    for (const cb::scope_info& scope : scopes)
        std::cout << scope.name << " has " << scope.collections.size() << " collections\n";

    // It can be used at once.
    const auto orders = shop["europe"]["orders"];
    co_await orders.increment("count", {.initial = 1});
    co_await all.drop_collection("europe", "orders");
}

asio::awaitable<void> users(cb::cluster db)
{
    const cb::role roles[] = {{"data_reader", "shop"}, {"query_select", "shop"}};
    co_await db.users().upsert("ada",
                               {.password = "lovelace", .display_name = "Ada", .roles = roles});
    const auto ada = co_await db.users().get("ada");
    std::cout << ada.display_name << " has " << ada.roles.size() << " roles\n";
    co_await db.users().drop("ada");
}

asio::awaitable<void> indexes(cb::cluster db)
{
    const std::string_view keys[] = {"customer", "total DESC"};
    const std::string_view names[] = {"by_customer"};
    const cb::query_index_admin all = db.query_indexes();
    co_await all.create({"shop"}, "by_customer", keys, {.deferred = true});
    const auto built = co_await all.build_deferred({"shop"});
    for (const std::string& name : built)
        std::cout << name << " is built\n";
    co_await all.watch({"shop"}, names, {.timeout = 30s});
    co_await all.drop({"shop"}, "by_customer");
}

asio::awaitable<void> anything_else(cb::cluster db)
{
    const auto pools = co_await db.http(cb::service_type::management, cb::http_method::get,
                                        "/pools/default", {.timeout = 5s});
    if (pools.is_success())
        std::cout << pools.body.size() << " bytes of " << pools.content_type << '\n';
}

asio::awaitable<void> tour(cb::cluster db)
{
    co_await buckets(db);
    co_await collections(db["shop"]);
    co_await users(db);
    co_await indexes(db);
    co_await anything_else(db);
    co_await db.buckets().drop("shop");
    co_await db.close();
}

}  // namespace

int main()
{
    auto lab = hf::lab::couchbase_cluster::start({.buckets = {"travel"}}).value();
    asio::io_context loop;
    cb::cluster_options options;
    options.authenticator = cb::password{"Administrator", "password"};
    const cb::cluster db{loop.get_executor(), lab.uri(), options};
    int status = 0;
    asio::co_spawn(loop, tour(db), [&](std::exception_ptr thrown) {
        try {
            if (thrown)
                std::rethrow_exception(thrown);
        } catch (const std::exception& failed) {
            std::cout << failed.what() << '\n';
            status = 1;
        }
    });
    loop.run();
    return status;
}
