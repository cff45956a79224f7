#pragma once
#include "holdfast/mongo/client.hpp"
#include "sim/simulation.hpp"
#include "support/recorder.hpp"
#include "support/rules.hpp"
#include "support/scripted_server.hpp"
#include "support/scripted_set.hpp"

#include <boost/asio/cancellation_signal.hpp>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::proof {

/// A command that a scene has begun, and what became of it.
struct operation {
    std::optional<result<bson::document>> outcome = {};
    std::size_t completions = 0;
    time_point began{};
    time_point ended{};
    boost::asio::cancellation_signal stop = {};

    bool done() const noexcept { return outcome.has_value(); }
    bool good() const { return outcome && outcome->has_value(); }
    duration took() const { return ended - began; }
    /// The number of a server's error; 0 if there is none.
    int code() const { return good() || !outcome ? 0 : outcome->error().code().value(); }
    std::string explain() const;
};

struct scene_options {
    std::uint64_t seed = 7;
    std::vector<std::string> hosts = {"a", "b"};
    duration latency_min = std::chrono::milliseconds{1};
    duration latency_max = std::chrono::milliseconds{1};
    bool sharded = false;
    bool streams = true;
};

/// Scripted members of one deployment, and a client whose every event is recorded, in a simulation.
/// By default the links take exactly a millisecond, so that times can be compared exactly.
class scene {
public:
    explicit scene(scene_options options = {});
    scene(const scene&) = delete;
    scene& operator=(const scene&) = delete;

    /// "a" or "a:27017".
    scripted_server& server(std::string_view name);
    sim::host& host(std::string_view name);
    /// A server that begins to listen, again or later than the others.
    void listen(std::string_view name);
    /// Its connections break, and it takes new ones `down` later, as another process.
    void restart(const std::string& name, duration down = {});

    /// Options for the connection string: "&maxPoolSize=1".
    void connect(const std::string& more = {});
    void connect_to(const std::string& uri);
    /// The same, in any world: for those that bend what the host's world does.
    void connect_in(std::shared_ptr<runtime::world> world, const std::string& uri);

    operation& start(const bson::document& command, mongo::command_options options = {});
    operation& start_write(int id);
    /// Runs until it is done. False if nothing can happen any more, or after an hour.
    bool finish(const operation& which);
    bool finish_all();
    operation& run(const bson::document& command, mongo::command_options options = {});
    operation& write(int id = 1);

    /// Opens the client, and waits until it knows all members.
    void settle(duration length = std::chrono::milliseconds{50});

    /// Closes the client and runs until nothing of it is left. What is left, if anything.
    std::string close();

    /// All rules broken so far, or since the start if the client was closed.
    std::string complaints(rule_limits limits = {}) const;
    const recorder& events() const noexcept { return *recorder_; }
    time_point start_time() const noexcept { return began_; }

    scripted_set set;
    sim::simulation simulation;
    sim::host& app;
    std::shared_ptr<log_sink> log;  // of clients to come
    std::optional<mongo::client> client;
    std::deque<operation> operations;

private:
    struct member {
        sim::host* on;
        std::string address;
        std::unique_ptr<scripted_server> server;
    };
    member& at(std::string_view name);

    scene_options options_;
    std::map<std::string, member, std::less<>> members_;
    std::shared_ptr<recorder> recorder_;
    time_point began_;
    bool closed_ = false;
};

inline mongo::command_options as_write()
{
    return {.kind = mongo::command_kind::write};
}
inline mongo::command_options as_read()
{
    return {.kind = mongo::command_kind::read};
}

inline bson::document insert_of(int id)
{
    return bson::doc("insert", "coll", "documents", bson::list(bson::object("_id", id)));
}

inline bson::document ping_command()
{
    return bson::doc("ping", 1);
}

}  // namespace holdfast::proof
