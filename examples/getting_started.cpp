// The first program of docs/getting-started.md, whole. It takes a connection string; without one it
// starts an embedded replica set, so that it runs anywhere.
#include <holdfast/lab/mongo.hpp>
#include <holdfast/mongo/client.hpp>
#include <holdfast/mongo/filter.hpp>
#include <holdfast/mongo/update.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <exception>
#include <iostream>
#include <optional>
#include <string>

namespace asio = boost::asio;
namespace hf = holdfast;
using hf::mongo::filter, hf::mongo::inc;

struct account {
    std::string owner;
    double balance = 0;
};
BOOST_DESCRIBE_STRUCT(account, (), (owner, balance))

asio::awaitable<void> bank(hf::mongo::client db)
{
    auto accounts = db["bank"]["accounts"];
    const account ada{"ada", 100};
    co_await accounts.insert_one(ada);  // struct mapping; or BSON, or Extended JSON
    co_await accounts.update_one(filter("owner", "ada"), inc("balance", 5));
    const auto found = co_await accounts.find_one<account>(filter("owner", "ada"));
    std::cout << found->owner << " has " << found->balance << '\n';  // ada has 105
    co_await db.close();
}

int main(int argc, char** argv)
try {
    std::optional<hf::lab::mongo_cluster> set;
    if (argc < 2)
        set = hf::lab::mongo_cluster::start().value();
    asio::io_context loop;
    const hf::mongo::client db{loop.get_executor(), set ? set->uri() : std::string{argv[1]}};
    asio::co_spawn(loop, bank(db), [](std::exception_ptr failed) {
        if (failed)
            std::rethrow_exception(failed);  // out of loop.run()
    });
    loop.run();
} catch (const hf::failure& failed) {
    std::cerr << failed.error().explain() << '\n';
    return 1;
}
