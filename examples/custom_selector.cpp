// A selector of your own: reads may go to any member, and this program knows better than the client
// which one it should be. Here it is the last by its address.
#include <holdfast/bson.hpp>
#include <holdfast/lab/mongo.hpp>
#include <holdfast/mongo/filter.hpp>
#include <holdfast/mongo/sync/client.hpp>

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace hf = holdfast;
namespace bson = holdfast::bson;
namespace mongo = holdfast::mongo;

namespace {

/// Sees the servers that suit an operation, never none, and gives back the places of those that it
/// wants; the client takes one of these. A write is offered the primary alone.
std::vector<std::size_t> last_by_address(std::span<const mongo::server_description> suitable)
{
    const auto last = std::ranges::max_element(suitable, {}, &mongo::server_description::address);
    return {static_cast<std::size_t>(last - suitable.begin())};
}

/// Counts who was asked to find.
class tally : public mongo::event_listener {
public:
    void on(const mongo::events::command_started& e) noexcept override
    {
        if (e.of.command_name != "find")
            return;
        const std::lock_guard lock{mutex_};
        ++finds_[e.of.server.value()];
    }
    std::map<std::string, int> finds() const
    {
        const std::lock_guard lock{mutex_};
        return finds_;
    }

private:
    mutable std::mutex mutex_;
    std::map<std::string, int> finds_;
};

}  // namespace

int main()
try {
    const auto set = hf::lab::mongo_cluster::start().value();
    const auto seen = std::make_shared<tally>();
    mongo::client_options options;
    options.server_selector = last_by_address;
    options.listeners.push_back(seen);
    const hf::mongo::sync::client db{set.uri(), options};

    // Majority, so that the member that is read from next has probably heard of it.
    const auto isles = db["sea"]["isles"].with({.write_concern = mongo::majority});
    isles.insert_one(bson::doc("_id", "Skye"));
    mongo::find_options anywhere;
    anywhere.read_preference = {.mode = mongo::read_mode::nearest};
    for (int i = 0; i < 20; ++i)
        (void)isles.find_one(mongo::filter("_id", "Skye"), anywhere);

    std::string last;
    for (std::size_t member = 0; member < set.members(); ++member)
        last = std::max(last, set.address(member));
    for (const auto& [server, times] : seen->finds())
        std::cout << server << " answered " << times << " finds\n";
    return seen->finds() == std::map<std::string, int>{{last, 20}} ? 0 : 1;
} catch (const hf::failure& failed) {
    std::cerr << failed.error().explain() << '\n';
    return 1;
}
