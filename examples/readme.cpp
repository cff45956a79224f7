// The code of README.md and docs/getting-started.md, as a program.
#include <holdfast/bson.hpp>
#include <holdfast/lab/mongo.hpp>
#include <holdfast/mongo/client.hpp>
#include <holdfast/mongo/filter.hpp>
#include <holdfast/mongo/sync/client.hpp>
#include <holdfast/mongo/update.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <exception>
#include <iostream>
#include <string>

namespace asio = boost::asio;
namespace hf = holdfast;
namespace bson = holdfast::bson;
using hf::mongo::filter, hf::mongo::inc, hf::mongo::gt;

struct account {
    std::string owner;
    double balance = 0;
};
BOOST_DESCRIBE_STRUCT(account, (), (owner, balance))

namespace {

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

void run(const std::string& uri)
{
    asio::io_context loop;
    const hf::mongo::client db{loop.get_executor(), uri};
    asio::co_spawn(loop, bank(db), [](std::exception_ptr failed) {
        if (failed)
            std::rethrow_exception(failed);  // out of loop.run()
    });
    loop.run();
}

double blocking(const std::string& uri)
{
    const hf::mongo::sync::client db{uri};
    const auto accounts = db["bank"]["accounts"];
    accounts.update_one(filter("owner", "ada"), inc("balance", 5));
    double sum = 0;
    for (const bson::view one : accounts.find(gt("balance", 100)))
        sum += one.get<double>("balance").value();
    return sum;
}

}  // namespace

int main()
try {
    const auto set = hf::lab::mongo_cluster::start().value();
    run(set.uri());
    return blocking(set.uri()) == 110 ? 0 : 1;
} catch (const hf::failure& failed) {
    std::cerr << failed.error().explain() << '\n';
    return 1;
}
