// A service of coroutines: three tills sell from one stock through one client, on one thread and
// with no lock. Each sale is one atomic update, so that no seat is sold twice.
#include <holdfast/bson.hpp>
#include <holdfast/lab/mongo.hpp>
#include <holdfast/mongo/client.hpp>
#include <holdfast/mongo/filter.hpp>
#include <holdfast/mongo/update.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>

#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>

namespace asio = boost::asio;
namespace hf = holdfast;
namespace bson = holdfast::bson;
namespace mongo = holdfast::mongo;
using namespace asio::experimental::awaitable_operators;

struct ticket {
    int number = 0;
    std::string till;
};
BOOST_DESCRIBE_STRUCT(ticket, (), (number, till))

namespace {

constexpr int seats = 60;

/// Sells until nothing is left. Handles are cheap to copy, so a coroutine keeps its own.
asio::awaitable<void> sell(mongo::database shop, std::string till)
{
    const auto stock = shop["stock"];
    const auto tickets = shop["tickets"];
    const bson::document free_seat = mongo::all_of(mongo::eq("_id", "tonight"),
                                                   mongo::gt("free", 0));
    for (;;) {
        const auto before = co_await stock.find_one_and_update(free_seat, mongo::inc("free", -1));
        if (!before)
            co_return;
        const ticket sold{.number = before->get<int>("free").value(), .till = till};
        co_await tickets.insert_one(sold);
    }
}

asio::awaitable<void> serve(mongo::client db)
{
    const auto shop = db["box_office"];
    co_await shop["tickets"].create_index(mongo::ascending("number"), bson::doc("unique", true));
    co_await shop["stock"].insert_one(bson::doc("_id", "tonight", "free", seats));

    // All three at once. If one fails, the others are cancelled and its error is thrown here.
    co_await (sell(shop, "door") && sell(shop, "phone") && sell(shop, "web"));

    const bson::array by_till = bson::arr(
        bson::object("$group", bson::object("_id", "$till", "sold", bson::object("$sum", 1))),
        bson::object("$sort", bson::object("_id", 1)));
    auto report = shop["tickets"].aggregate(by_till);
    int sold = 0;
    for (auto line = co_await report.next(); line; line = co_await report.next()) {
        std::cout << bson::to_json(*line).value() << '\n';
        sold += line->get<int>("sold").value();
    }
    co_await db.close();  // nothing of the client runs any more, so that the loop can end
    if (sold != seats)
        throw std::runtime_error{"sold " + std::to_string(sold) + " seats"};
}

}  // namespace

int main()
try {
    const auto set = hf::lab::mongo_cluster::start().value();
    asio::io_context loop{1};
    const mongo::client db{loop.get_executor(), set.uri()};
    asio::co_spawn(loop, serve(db), [](std::exception_ptr failed) {
        if (failed)
            std::rethrow_exception(failed);  // out of loop.run()
    });
    loop.run();
} catch (const hf::failure& failed) {
    std::cerr << failed.error().explain() << '\n';
    return 1;
} catch (const std::exception& failed) {
    std::cerr << failed.what() << '\n';
    return 1;
}
