// Loading many documents: in batches that the client splits as the server's limits demand, not
// ordered, so that a bad document does not stop the good ones; then a bulk write that tidies up.
#include <holdfast/bson.hpp>
#include <holdfast/lab/mongo.hpp>
#include <holdfast/mongo/error.hpp>
#include <holdfast/mongo/filter.hpp>
#include <holdfast/mongo/sync/client.hpp>
#include <holdfast/mongo/update.hpp>

#include <iostream>
#include <string>
#include <vector>

namespace hf = holdfast;
namespace bson = holdfast::bson;
namespace mongo = holdfast::mongo;

namespace weather {

struct reading {
    int id = 0;
    std::string station;
    double degrees = 0;
};
BOOST_DESCRIBE_STRUCT(reading, (), (id, station, degrees))

}  // namespace weather

template <>
inline constexpr auto holdfast::bson::mapping_of<weather::reading> = mapping{
    rename(&weather::reading::id, "_id")};

namespace {

/// Stores what can be stored, and says how many that were.
std::int64_t load(const hf::mongo::sync::collection& into,
                  const std::vector<weather::reading>& batch)
{
    const auto done = into.try_insert_many(batch, {.ordered = false});
    if (done)
        return done->inserted_count;

    const mongo::write_failure* const why = mongo::write_failure_of(done.error());
    if (why == nullptr || !why->partial_result || why->ended_by)
        throw hf::failure{done.error()};  // not about single documents: the rest was not sent
    for (const mongo::write_error& one : why->write_errors)
        std::cout << "reading " << one.index << " of its batch: " << one.message << '\n';
    return why->partial_result->inserted_count;
}

int run(const hf::mongo::sync::client& db)
{
    const auto readings = db["weather"]["readings"];
    readings.create_index(mongo::ascending("station"));

    std::int64_t stored = 0;
    std::vector<weather::reading> batch;
    for (int id = 0; id < 20'000; ++id) {
        const int received = id == 12'345 ? 7 : id;  // one reading is reported twice
        batch.push_back({received, "station " + std::to_string(id % 5), id % 40 - 10.0});
        if (batch.size() == 5'000) {
            stored += load(readings, batch);
            batch.clear();
        }
    }

    mongo::bulk_writes tidy;
    tidy.delete_many(mongo::lt("degrees", -5))
        .update_many(mongo::filter("station", "station 0"), mongo::set("station", "harbour"))
        .update_one(mongo::filter("_id", 99'999), mongo::set("station", "hill"), {.upsert = true});
    const auto done = readings.bulk_write(tidy);
    std::cout << stored << " stored, " << done.deleted_count << " deleted, " << done.modified_count
              << " moved, " << done.upserted_count << " new\n";

    const auto left = readings.count_documents(mongo::filter());
    return stored == 19'999 && left == stored - done.deleted_count + 1 ? 0 : 1;
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
