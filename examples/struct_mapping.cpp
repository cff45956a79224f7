// Documents as plain structs: described once, stored, found, changed and read back, with an error
// that names the field when a document does not fit.
#include <holdfast/bson.hpp>
#include <holdfast/lab/mongo.hpp>
#include <holdfast/mongo/filter.hpp>
#include <holdfast/mongo/sync/client.hpp>
#include <holdfast/mongo/update.hpp>

#include <chrono>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

namespace hf = holdfast;
namespace bson = holdfast::bson;

namespace fleet {

enum class state { in_port, at_sea };
BOOST_DESCRIBE_ENUM(state, in_port, at_sea)

struct voyage {
    std::string to;
    std::chrono::sys_days left;
};
BOOST_DESCRIBE_STRUCT(voyage, (), (to, left))

struct ship {
    std::string name;
    state now = state::in_port;
    std::vector<voyage> voyages = {};
    std::optional<std::string> pilot = {};  // no field if there is none
    int crew = 1;
};
BOOST_DESCRIBE_STRUCT(ship, (), (name, now, voyages, pilot, crew))

}  // namespace fleet

template <>
inline constexpr auto holdfast::bson::mapping_of<fleet::ship> = mapping{
    rename(&fleet::ship::name, "_id"),
    defaulted(&fleet::ship::crew),  // may be missing, and is then 1
};

namespace {

int run(const hf::mongo::sync::client& db)
{
    using namespace std::chrono_literals;
    using namespace holdfast::mongo;  // filter, set, push ...
    const auto ships = db["fleet"]["ships"];
    const fleet::voyage north{.to = "Tromsø", .left = 2026y / 5 / 17};
    const fleet::ship fram{.name = "Fram", .voyages = {north}, .pilot = "Otto", .crew = 13};
    const std::vector<fleet::ship> others{{.name = "Gjøa", .crew = 7}, {.name = "Maud"}};
    ships.insert_one(fram);
    ships.insert_many(others);

    // Described types stand wherever a value can stand.
    ships.update_one(filter("_id", "Gjøa"),
                     combine(set("now", fleet::state::at_sea), push("voyages", north)));
    ships.update_one(filter("_id", "Maud"), unset("crew"));

    auto cursor = ships.find(negate(gt("crew", 10)), {.sort = ascending("_id")});
    const auto small = cursor.all<fleet::ship>();
    for (const fleet::ship& one : small)
        std::cout << one.name << ", crew of " << one.crew << ", " << one.voyages.size()
                  << " voyages\n";

    const auto found = ships.find_one<fleet::ship>(filter("now", fleet::state::at_sea));
    ships.insert_one(
        bson::doc("_id", "Ghost", "now", "in_port", "voyages", bson::list(), "crew", "none"));
    const auto ghost = ships.try_find_one<fleet::ship>(filter("_id", "Ghost"));
    const std::string why = ghost ? "" : ghost.error().message();
    std::cout << "Ghost: " << why << '\n';

    const bool as_expected = small.size() == 2 && small[1].crew == 1 && found->name == "Gjøa" &&
                             found->voyages.at(0).left == north.left && !found->pilot &&
                             why == "crew: expected int32, found string";
    return as_expected ? 0 : 1;
}

}  // namespace

int main()
try {
    const auto server = hf::lab::mongo_cluster::start({.members = 1}).value();
    const hf::mongo::sync::client db{server.uri()};
    return run(db);
} catch (const hf::failure& failed) {
    std::cerr << failed.error().explain() << '\n';
    return 1;
}
