// A test of your own against an embedded replica set that is broken on purpose: the same write
// before, during and after a change of the primary.
#include <holdfast/bson.hpp>
#include <holdfast/lab/mongo.hpp>
#include <holdfast/mongo/sync/client.hpp>

#include <iostream>

namespace hf = holdfast;
namespace bson = holdfast::bson;

namespace {

/// One write statement, which carries a transaction number: sent twice, it is applied once.
void increment(const hf::mongo::sync::client& db)
{
    const bson::document command = bson::doc(
        "update", "stock", "updates",
        bson::list(bson::object("q", bson::object("_id", "rope"), "u",
                                bson::object("$inc", bson::object("count", 1)), "upsert", true)));
    hf::mongo::command_options options;
    options.kind = hf::mongo::command_kind::write;
    db.run_command("shop", command, options);
}

}  // namespace

int main()
{
    auto set = hf::lab::mongo_cluster::start();
    if (!set) {
        std::cerr << set.error().explain() << '\n';
        return 1;
    }
    const hf::mongo::sync::client db{set->uri()};
    increment(db);
    if (auto down = set->step_down(); !down) {
        std::cerr << down.error().explain() << '\n';
        return 1;
    }
    increment(db);
    const auto primary = set->wait_for_primary();
    if (!primary || !set->crash(*primary))
        return 1;
    increment(db);

    const bson::document find = bson::doc("find", "stock");
    hf::mongo::command_options read;
    read.kind = hf::mongo::command_kind::read;
    const bson::document reply = db.run_command("shop", find, read);
    const int count = reply.get<int>("cursor.firstBatch.0.count").value();
    std::cout << "three increments, counted " << count << '\n';
    return count == 3 ? 0 : 1;
}
