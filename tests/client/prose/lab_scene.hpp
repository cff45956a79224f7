#pragma once
#include "holdfast/bson/json.hpp"
#include "holdfast/mongo/client.hpp"
#include "holdfast/mongo/error.hpp"
#include "lab/mongo/deployment/deployment.hpp"
#include "sim/simulation.hpp"
#include "support/recorder.hpp"
#include "support/verifies.hpp"

#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::proof {

using boost::asio::use_awaitable;

struct lab_options {
    std::size_t members = 1;
    std::size_t routers = 0;
    bool standalone = false;
    bool sessions = true;
    bool tls = false;
    std::string version = "8.2";
    std::uint64_t seed = 8;
};

/// What becomes of an operation.
template <class T>
struct pending_operation {
    std::optional<result<T>> outcome = {};
    time_point began{};
    time_point ended{};
    bool done() const noexcept { return outcome.has_value(); }
    bool good() const noexcept { return outcome && outcome->has_value(); }
    duration took() const noexcept { return ended - began; }
    std::string explain() const
    {
        if (!outcome)
            return "not done";
        return outcome->has_value() ? "done" : outcome->error().explain();
    }
};
template <class T>
using pending = std::shared_ptr<pending_operation<T>>;

/// The lab in a simulation whose links take exactly a millisecond, and a client whose every event
/// is recorded. Members are the hosts m0, m1 ... at ports 27017, 27018 ...; routers are r0, r1 ...
class lab_scene {
public:
    explicit lab_scene(lab_options what = {});
    lab_scene(const lab_scene&) = delete;
    lab_scene& operator=(const lab_scene&) = delete;
    ~lab_scene();

    /// A client of all members or, if there are any, of all routers. Options: "&maxPoolSize=1".
    void connect(const std::string& more = {}, mongo::client_options options = {});
    void connect_to(const std::string& uri, mongo::client_options options = {});
    void connect_in(std::shared_ptr<runtime::world> world, const std::string& uri,
                    mongo::client_options options = {});
    std::string uri() const;

    mongo::collection test_collection() const { return (*client)["sea"]["coll"]; }

    /// Begins what was made with use_awaitable.
    template <class T>
    pending<T> start(runtime::awaitable<result<T>> what)
    {
        auto made = std::make_shared<pending_operation<T>>();
        made->began = simulation.now();
        app.start(keep(std::move(what), made, &simulation));
        return made;
    }
    /// The same, and waits for it.
    template <class T>
    result<T> get(runtime::awaitable<result<T>> what)
    {
        const pending<T> made = start(std::move(what));
        if (!finish([&] { return made->done(); }))
            return error{error_code{}, "it does not end"};
        return *std::move(made->outcome);
    }
    result<bson::document> command(std::string_view database, std::string_view json)
    {
        const bson::document what = bson::from_json(json).value();
        return get(client->run_command(database, what.view(), {}, use_awaitable));
    }
    /// Runs until `done`; false if that takes more than ten minutes.
    bool finish(const std::function<bool()>& done);
    void open();

    /// Sets a fail point of a member, at once: also from within an event.
    void fail_on(std::size_t member, std::string_view json);
    /// failCommand with this mode and data, on the primary.
    void fail(std::string_view mode, std::string_view data);
    /// The same for one router, over a connection.
    void fail_router(std::size_t router, std::string_view mode, std::string_view data);

    /// Closes the client; its last events arrive. Then nothing of it may be left, and it must
    /// have got all of its sessions back: prose test 10 of "Driver Sessions".
    void close();

    std::size_t primary() const { return set->primary().value_or(0); }
    std::string address(std::size_t member) const { return set->address(member); }
    const recorder& events() const noexcept { return *recorder_; }
    /// The events of commands of one name.
    std::vector<record> of(heard what, std::string_view command) const;
    std::vector<record> started(std::string_view command) const
    {
        return of(heard::command_started, command);
    }
    /// How long after its n-th failure, from 0, a command was sent again.
    duration pause_after(std::size_t failure, std::string_view command) const;
    /// How many sessions were used and neither ended nor, because of a network error, thrown away.
    std::size_t sessions_in_use() const;

    sim::simulation simulation;
    sim::host& app;
    std::vector<sim::host*> hosts;
    std::unique_ptr<lab::mongo::deployment> set;
    std::optional<mongo::client> client;

private:
    template <class T>
    static runtime::awaitable<void> keep(runtime::awaitable<result<T>> what, pending<T> into,
                                         const sim::simulation* in)
    {
        auto outcome = co_await std::move(what);
        into->ended = in->now();
        into->outcome.emplace(std::move(outcome));
    }
    lab::mongo::place add_host(const std::string& name, std::uint16_t port);
    void expect_nothing_left();

    bool standalone_;
    bool tls_;
    std::shared_ptr<recorder> recorder_;
    std::optional<sim::leftovers> before_;  // there was a client
};

/// Calls a function when a command has failed, or succeeded.
class when_ended final : public mongo::event_listener {
public:
    using call = std::function<void()>;
    when_ended(std::string command, call failed, call succeeded = {})
        : command_{std::move(command)}, failed_{std::move(failed)}, succeeded_{std::move(succeeded)}
    {
    }
    void on(const events::command_failed& e) noexcept override
    {
        if (failed_ && e.of.command_name == command_)
            failed_();
    }
    void on(const events::command_succeeded& e) noexcept override
    {
        if (succeeded_ && e.of.command_name == command_)
            succeeded_();
    }

private:
    std::string command_;
    call failed_;
    call succeeded_;
};

inline std::string fail_command(std::string_view mode, std::string_view data)
{
    return R"({"configureFailPoint": "failCommand", "mode": )" + std::string{mode} +
           R"(, "data": )" + std::string{data} + "}";
}

inline std::optional<bson::uuid> lsid_of(const record& one)
{
    const auto id = one.body.get<bson::uuid>("lsid.id");
    return id ? std::optional{*id} : std::nullopt;
}

/// How many elements an array of a document has.
inline std::size_t length_of(const bson::document& of, std::string_view field)
{
    std::size_t count = 0;
    for ([[maybe_unused]] const bson::element& one : of[field].as_array())
        ++count;
    return count;
}

inline constexpr auto once = R"({"times": 1})";
inline constexpr auto twice = R"({"times": 2})";
inline constexpr auto always_on = R"("alwaysOn")";

}  // namespace holdfast::proof
