// Documents and their parts: optimistic locking, locks, counters, expiry, paths, copies, and types
// with a transcoder; and the same without coroutines at the end.
#include <holdfast/couchbase/cluster.hpp>
#include <holdfast/couchbase/sync/cluster.hpp>
#include <holdfast/json/boost.hpp>
#include <holdfast/lab/couchbase.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/describe.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace asio = boost::asio;
namespace hf = holdfast;
namespace cb = holdfast::couchbase;
using namespace std::chrono_literals;

namespace shop {

struct airline {
    std::string name;
    int fleet = 0;
    std::vector<std::string> routes;
};
BOOST_DESCRIBE_STRUCT(airline, (), (name, fleet, routes))

/// A type with a format of its own.
struct logo {
    std::string pixels;
};

hf::result<cb::encoded_content> to_content(const logo& from)
{
    return cb::encoded_content{from.pixels, cb::content_flags::binary};
}

hf::result<logo> from_content(std::type_identity<logo>, cb::encoded_content stored)
{
    if (cb::format_of(stored.flags) != cb::content_format::binary)
        return hf::error{cb::errc::decoding_failure, "not a logo"};
    return logo{std::move(stored.bytes)};
}

}  // namespace shop

namespace {

using shop::airline;
using shop::logo;

asio::awaitable<void> whole_documents(cb::collection airlines)
{
    const airline klm{"KLM", 110, {"AMS-JFK"}};
    co_await airlines.insert("klm", klm);
    const auto again = co_await airlines.insert("klm", klm, {}, asio::use_awaitable);
    if (!again && again.error().code() == cb::errc::document_exists)
        std::cout << "there is one already\n";

    // Change what was read, unless another program was faster.
    for (bool done = false; !done;) {
        auto found = co_await airlines.get<airline>("klm");
        found.content.fleet += 1;
        const auto changed = co_await airlines.replace("klm", found.content, {.cas = found.cas},
                                                       asio::use_awaitable);
        done = changed || changed.error().code() != cb::errc::cas_mismatch;
    }

    const auto none = co_await airlines.get_if<airline>("pan_am");
    std::cout << (none ? "flies" : "does not fly") << " any more\n";

    co_await airlines.upsert("session", klm, {.expiry = cb::expiry::in(20min)});
    co_await airlines.touch("session", cb::expiry::in(1h));
    const std::string_view paths[] = {"name", "routes[0]"};
    const auto part = co_await airlines.get("session", {.with_expiry = true, .project = paths});
    std::cout << part.content.text() << (part.expiry ? " for a while\n" : " for ever\n");
    co_await airlines.remove("session");

    const auto visits = co_await airlines.increment("visits", {.delta = 5, .initial = 100});
    std::cout << visits.value << " visits\n";
}

asio::awaitable<void> locks(cb::collection airlines)
{
    const auto locked = co_await airlines.get_and_lock<airline>("klm", 5s);
    const auto refused = co_await airlines.upsert("klm", locked.content, {.timeout = 100ms},
                                                  asio::use_awaitable);
    if (!refused && refused.error().code() == cb::errc::unambiguous_timeout)
        std::cout << "locked all the time\n";
    co_await airlines.unlock("klm", locked.cas);
}

asio::awaitable<void> contents(cb::collection airlines)
{
    const boost::json::value tree = {{"name", "Transavia"}, {"fleet", 45}};
    co_await airlines.upsert("transavia", tree);
    const auto as_struct = co_await airlines.get("transavia");
    std::cout << as_struct.content.text() << '\n';

    co_await airlines.upsert("note", cb::raw_text{"call back"});
    co_await airlines.append("note", " tomorrow");
    const auto note = co_await airlines.get<cb::raw_text>("note");
    std::cout << note.content.text << '\n';

    const logo crown{"\x01\x02"};
    co_await airlines.upsert("logo", crown);
    const auto wrong = co_await airlines.get<airline>("logo", {}, asio::use_awaitable);
    std::cout << wrong.error().message() << '\n';
}

asio::awaitable<void> parts(cb::collection airlines)
{
    const cb::lookup paths{cb::get("name"), cb::exists("iata"), cb::count("routes")};
    const auto found = co_await airlines.lookup_in("klm", paths);
    std::cout << found.as<std::string>(0) << (found.exists(1) ? "" : " has no code and ")
              << found.as<int>(2) << " route\n";

    const cb::changes edit{cb::upsert("hub", "AMS"), cb::increment("fleet", 5),
                           cb::array_append("routes", "AMS-CDG", "AMS-LHR"),
                           cb::insert("crew.pilots", 2'500).create_path()};
    const auto done = co_await airlines.mutate_in("klm", edit, {.expiry = cb::expiry::in(24h)});
    std::cout << "now " << done.as<int>(1) << " planes\n";

    const cb::changes broken{cb::upsert("hub", "RTM"), cb::replace("no.such.path", 1)};
    const auto refused = co_await airlines.mutate_in("klm", broken, {}, asio::use_awaitable);
    std::cout << refused.error().message() << " (" << refused.error().context("path") << ")\n";

    const cb::changes stamp{cb::upsert("app.changed", cb::mutation_macro::cas).create_path(),
                            cb::upsert("app.by", "ada").xattr()};
    co_await airlines.mutate_in("klm", stamp);
    const cb::lookup attributes{cb::get("app.by").xattr(), cb::get("$document.exptime").xattr()};
    const auto beside = co_await airlines.lookup_in("klm", attributes);
    std::cout << "changed by " << beside.as<std::string>(0) << '\n';

    const cb::changes made{cb::upsert("n", 1)};
    co_await airlines.mutate_in("new", made, {.store_semantics = cb::store_semantics::upsert});
}

asio::awaitable<void> tour(cb::cluster db)
{
    const auto airlines = db["travel"].default_collection();
    co_await whole_documents(airlines);
    co_await locks(airlines);
    co_await contents(airlines);
    co_await parts(airlines);
    co_await db.close();
}

/// The same calls for programs that have threads instead of coroutines.
int blocking(const std::string& uri, const cb::cluster_options& options)
{
    const cb::sync::cluster db{uri, options};
    const auto airlines = db["travel"].default_collection();
    airlines.upsert("a", airline{"A", 1, {}});
    const auto missing = airlines.try_get<airline>("b");  // the twin that does not throw
    return missing ? -1 : airlines.get<airline>("a").content.fleet;
}

}  // namespace

int main()
{
    const auto lab = hf::lab::couchbase_cluster::start({.nodes = 2, .buckets = {"travel"}}).value();
    cb::cluster_options options;
    options.authenticator = cb::password{"Administrator", hf::secret{"password"}};

    asio::io_context loop;
    int status = 0;
    asio::co_spawn(loop, tour(cb::cluster{loop.get_executor(), lab.uri(), options}),
                   [&](std::exception_ptr thrown) {
                       try {
                           if (thrown)
                               std::rethrow_exception(thrown);
                       } catch (const std::exception& failed) {
                           std::cout << failed.what() << '\n';
                           status = 1;
                       }
                   });
    loop.run();
    return blocking(lab.uri(), options) == 1 ? status : 1;
}
