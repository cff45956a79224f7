// The blocking client: the same operations for programs that have threads instead of coroutines.
#include <holdfast/bson.hpp>
#include <holdfast/lab/mongo.hpp>
#include <holdfast/mongo/error.hpp>
#include <holdfast/mongo/filter.hpp>
#include <holdfast/mongo/sync/client.hpp>
#include <holdfast/mongo/update.hpp>

#include <iostream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace hf = holdfast;
namespace bson = holdfast::bson;
namespace mongo = holdfast::mongo;
using mongo::filter;
using mongo::inc;

namespace {

/// One of many threads that share a client.
void visit(const hf::mongo::sync::client& db, const std::string& page, int times)
{
    const auto visits = db["site"]["visits"];
    for (int i = 0; i < times; ++i)
        visits.update_one(filter("_id", page), inc("count", 1), {.upsert = true});
}

int run(const hf::mongo::sync::client& db)
{
    const auto visits = db["site"]["visits"];
    visits.insert_one(bson::doc("_id", "/", "count", 0));

    {
        std::vector<std::jthread> visitors;
        for (const char* page : {"/", "/", "/about"})
            visitors.emplace_back([&db, page] { visit(db, page, 20); });
    }

    std::int64_t all = 0;
    for (const bson::view page : visits.find(mongo::gt("count", 0))) {
        const int count = page.get<int>("count").value();
        std::cout << page.get<std::string_view>("_id").value() << ": " << count << '\n';
        all += count;
    }

    // Every call has a twin that does not throw.
    const auto again = visits.try_insert_one(bson::doc("_id", "/"));
    if (again || mongo::server_code(again.error()) != 11000)
        return 1;
    std::cout << "as it should be: " << again.error().message() << '\n';

    const auto home = visits.find_one(filter("_id", "/"));
    return home && home->get<int>("count").value() == 40 && all == 60 ? 0 : 1;
}

}  // namespace

int main()
try {
    const auto set = hf::lab::mongo_cluster::start().value();
    const hf::mongo::sync::client db{set.uri()};
    return run(db);
} catch (const hf::failure& failed) {
    std::cerr << failed.error().explain() << '\n';
    return 1;
}
