// For those who come from libcouchbase or from the callbacks of Couchbase's C++ SDK: the same with
// callbacks and futures on one event loop, a thousand operations at a time, and errors as values.
#include <holdfast/couchbase/cluster.hpp>
#include <holdfast/lab/couchbase.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/describe.hpp>

#include <chrono>
#include <iostream>
#include <string>
#include <thread>

namespace asio = boost::asio;
namespace hf = holdfast;
namespace cb = holdfast::couchbase;
using namespace std::chrono_literals;

namespace {

struct user {
    std::string name;
    int visits = 0;
};
BOOST_DESCRIBE_STRUCT(user, (), (name, visits))

/// What a store callback did with its status and its cookie.
void store(cb::collection users, std::string id, int& left)
{
    const user ada{"ada", 1};
    users.upsert(id, ada, {.timeout = 5s}, [&left, id](hf::result<cb::mutation_result> stored) {
        if (!stored)
            std::cout << id << ": " << stored.error().explain() << '\n';
        --left;
    });
}

/// All of them are under way before the first one ends: none waits for another.
int store_many(asio::io_context& loop, cb::collection users)
{
    int left = 1000;
    for (int n = 0; n != 1000; ++n)
        store(users, "user_" + std::to_string(n), left);
    while (left != 0 && loop.run_one() != 0) {}
    return left;
}

/// From a thread that has no loop: a future of a result, whose value() throws hf::failure.
int visits_of(cb::collection users, const std::string& id)
{
    auto found = users.get<user>(id, {}, asio::use_future);
    return found.get().value().content.visits;
}

/// The questions that the C and C++ SDKs answer by code.
void look_at(const hf::error& failed)
{
    if (failed.code() == cb::errc::document_not_found)
        std::cout << "there is none\n";
    else if (failed.context("may_have_been_applied") == "true")
        std::cout << "perhaps: " << failed.explain() << '\n';
    else
        std::cout << "certainly not: " << failed.message() << '\n';
}

}  // namespace

int main()
{
    auto lab = hf::lab::couchbase_cluster::start({.nodes = 2}).value();
    asio::io_context loop;
    cb::cluster_options options;
    options.authenticator = cb::password{"Administrator", "password"};
    const cb::cluster db{loop.get_executor(), lab.uri(), options};
    const cb::collection users = db["default"].default_collection();

    const int lost = store_many(loop, users);

    users.get("grace", {}, [](hf::result<cb::document<cb::raw_json>> found) {
        if (!found)
            look_at(found.error());
    });

    auto work = asio::make_work_guard(loop);
    std::thread runs{[&loop] { loop.run(); }};
    const int visits = visits_of(users, "user_7");
    asio::co_spawn(loop, db.close(), asio::detached);
    work.reset();
    runs.join();
    std::cout << lost << " lost, " << visits << " visit\n";
    return lost == 0 && visits == 1 ? 0 : 1;
}
