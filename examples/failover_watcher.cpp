// Watching a failover: a listener prints what the client learns about the set while its primary
// steps down and the next one crashes, and writes go on all the while.
#include <holdfast/bson.hpp>
#include <holdfast/lab/mongo.hpp>
#include <holdfast/mongo/events.hpp>
#include <holdfast/mongo/filter.hpp>
#include <holdfast/mongo/sync/client.hpp>
#include <holdfast/mongo/update.hpp>

#include <atomic>
#include <iostream>
#include <memory>

namespace hf = holdfast;
namespace mongo = holdfast::mongo;

namespace {

/// Events come from whatever thread runs the client: here its own, and the one that calls it.
class watcher : public mongo::event_listener {
public:
    void on(const mongo::events::server_description_changed& e) noexcept override
    {
        if (e.previous.type == e.current.type)
            return;
        std::cout << e.current.address.value() << ": " << e.previous.type << " -> "
                  << e.current.type;
        if (e.current.failure)
            std::cout << " (" << e.current.failure->message() << ')';
        std::cout << std::endl;
        elections_ += e.current.type == "RSPrimary";
    }
    void on(const mongo::events::topology_description_changed& e) noexcept override
    {
        if (e.previous.type != e.current.type)
            std::cout << "the set is now " << e.current.type << std::endl;
    }
    void on(const mongo::events::command_failed& e) noexcept override
    {
        std::cout << e.of.command_name << " failed, as operation " << e.of.operation.value() << ": "
                  << e.failure.message() << std::endl;
    }
    int elections() const noexcept { return elections_; }

private:
    std::atomic<int> elections_ = 0;
};

}  // namespace

int main()
try {
    auto set = hf::lab::mongo_cluster::start().value();
    const auto seen = std::make_shared<watcher>();
    mongo::client_options options;
    options.listeners.push_back(seen);
    const hf::mongo::sync::client db{set.uri(), options};
    const auto log = db.database("ship", {.write_concern = mongo::majority})["log"];
    const auto tick = [&log] {
        log.update_one(mongo::filter("_id", "clock"), mongo::inc("ticks", 1), {.upsert = true});
    };

    tick();
    set.step_down().value();
    tick();  // waits for the new primary, and is tried again if it came too early
    set.crash(set.wait_for_primary().value()).value();
    tick();

    const int ticks = log.find_one(mongo::filter("_id", "clock"))->get<int>("ticks").value();
    std::cout << ticks << " ticks, " << seen->elections() << " primaries seen\n";
    db.close();
    return ticks == 3 && seen->elections() >= 3 ? 0 : 1;
} catch (const hf::failure& failed) {
    std::cerr << failed.error().explain() << '\n';
    return 1;
}
