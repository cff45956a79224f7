#include "holdfast/bson/json.hpp"
#include "lab/mongo/data/disk.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <string_view>

namespace holdfast::lab::mongo::replicas_test {
namespace {

/// A primary that gets random changes, and a secondary that applies the primary's oplog.
class pair_of_members {
public:
    explicit pair_of_members(unsigned seed) : chance_{seed} {}

    void run(int steps)
    {
        for (int i = 0; i < steps; ++i) {
            one_change();
            if (chance_() % 5 == 0)
                follow();
            if (chance_() % 50 == 0)
                primary_.forget_before(primary_.last().ts);  // not at the same time in both
        }
        follow();
    }

    int accepted() const { return accepted_; }
    disk& primary() { return primary_; }
    disk& secondary() { return secondary_; }

private:
    unsigned draw(unsigned below) { return static_cast<unsigned>(chance_() % below); }

    std::string some_collection() { return "c" + std::to_string(draw(3)); }

    void one_change()
    {
        const std::string ns = "db." + some_collection();
        const int id = static_cast<int>(draw(20));
        const bson::document key = bson::doc("_id", id);
        const bson::document made = bson::doc("_id", id, "a", static_cast<int>(draw(8)), "b",
                                              static_cast<double>(draw(3)));
        const unsigned kind = draw(20);
        if (kind < 8)
            write('i', ns, made);
        else if (kind < 13)
            write('u', ns, made, key);
        else if (kind < 17)
            write('d', ns, key);
        else if (kind == 17)
            write('n', "", bson::doc("msg", "note"));
        else
            write('c', "db.$cmd", command());
    }

    bson::document command()
    {
        const std::string name = some_collection();
        switch (draw(8)) {
        case 0:
            return bson::doc("create", name);
        case 1:
            return bson::doc("create", name, "capped", true, "size", 1000, "max", 5);
        case 2:
            return bson::doc("drop", name);
        case 3:
            return bson::doc("createIndexes", name, "v", 2, "key", bson::doc("a", 1), "unique",
                             true);
        case 4:
            return bson::doc("dropIndexes", name, "index", "a_1");
        case 5:
            return bson::doc("renameCollection", "db." + name, "to", "db." + some_collection(),
                             "dropTarget", draw(2) == 0);
        case 6:
            return bson::doc("collMod", name, "index",
                             bson::doc("name", "a_1", "hidden", draw(2) == 0));
        default:
            return bson::doc("createIndexes", name, "v", 2, "key", bson::doc("b", 1));
        }
    }

    void write(char op, const std::string& ns, const bson::document& o,
               const bson::document& o2 = {})
    {
        statement_id by;
        by.session.id.fill(static_cast<std::uint8_t>(draw(4)));
        by.txn_number = ++number_ / 3;
        by.statement = static_cast<std::int32_t>(number_ % 3);
        executed_statement outcome;
        outcome.upserted = op == 'i' && draw(3) == 0;
        outcome.has_image = draw(4) == 0;
        outcome.image_is_new = outcome.has_image && draw(2) == 0;
        if (outcome.has_image)
            outcome.image = bson::doc("_id", 1, "was", 2);
        change what{op, ns, o, o2};
        if (op != 'c' && draw(2) == 0) {
            what.by = &by;
            what.outcome = &outcome;
        }
        const bson::datetime wall{std::chrono::seconds{100 + number_ / 7 - draw(3)}};
        const optime before = primary_.last();
        const auto done = primary_.write(what, 1 + number_ / 100, wall);
        if (done) {
            ++accepted_;
            ASSERT_GT(*done, before);
            ASSERT_EQ(primary_.last(), *done);
        }
    }

    void follow()
    {
        const collection& log = primary_.oplog();
        for (auto each = log.next(0); each; each = log.next(each->id)) {
            if (each->document["ts"].as_timestamp() <= secondary_.last().ts)
                continue;
            const auto done = secondary_.apply(each->document);
            ASSERT_TRUE(done) << done.error().message();
        }
        ASSERT_EQ(primary_.last(), secondary_.last());
    }

    std::mt19937 chance_;
    disk primary_;
    disk secondary_;
    std::int64_t number_ = 0;
    int accepted_ = 0;
};

std::string contents(const collection& of)
{
    std::string out = of.ns() + " " + of.uuid().to_string() + " " +
                      bson::to_json(of.options().raw).value() + " " +
                      std::to_string(of.data_size()) + "\n";
    for (const index_spec& spec : of.indexes())
        out += "  " + bson::to_json(spec.raw).value() + "\n";
    for (auto at = of.next(0); at; at = of.next(at->id))
        out += "  " + bson::to_json(at->document, bson::json_mode::canonical).value() + "\n";
    return out;
}

std::string contents(disk& of)
{
    std::string out;
    for (const collection* each : of.data().all())
        out += contents(*each);
    of.sessions().for_each(
        [&](const session_key& who, std::int64_t number, const executed_statement& what) {
            out += std::to_string(who.id[0]) + " " + std::to_string(number) + "." +
                   std::to_string(what.statement) + what.kind + " " +
                   std::to_string(what.at.ts.seconds) + "," + std::to_string(what.at.ts.increment) +
                   " " + std::to_string(what.at.term) + (what.upserted ? " upserted " : " ") +
                   bson::to_json(what.upserted_id).value() + (what.has_image ? " image " : " ") +
                   (what.image_is_new ? "new " : "old ") + bson::to_json(what.image).value() + "\n";
        });
    return out;
}

TEST(lab_replicas, same_oplog_gives_the_same_data_and_sessions)
{
    for (unsigned seed = 1; seed <= 30; ++seed) {
        pair_of_members both{seed};
        both.run(400);
        ASSERT_GT(both.accepted(), 100) << "seed " << seed;
        ASSERT_GT(both.primary().sessions().size(), 0U);
        ASSERT_EQ(contents(both.primary()), contents(both.secondary())) << "seed " << seed;
    }
}

}  // namespace
}  // namespace holdfast::lab::mongo::replicas_test
