#pragma once
#include "holdfast/bson/json.hpp"
#include "lab/mongo/deployment/deployment.hpp"
#include "lab/mongo/peer/peer.hpp"
#include "lab/mongo/set/address.hpp"
#include "lab/mongo/set/message_fields.hpp"
#include "sim/simulation.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::lab {

using runtime::awaitable;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// A set in the simulator, each member on a host of its own, and a host for clients.
class set_in_sim {
public:
    explicit set_in_sim(std::size_t members, std::uint64_t seed = 1,
                        const std::function<void(mongo::deployment_options&)>& change = {})
        : net{seed}, client{net.add_host("client")}
    {
        mongo::deployment_options options;
        for (std::size_t n = 0; n < members; ++n) {
            const std::string name = "m" + std::to_string(n);
            hosts.push_back(&net.add_host(name));
            options.members.push_back({&hosts.back()->world(), "", name, 27017});
        }
        if (change)
            change(options);
        set = std::make_unique<mongo::deployment>(std::move(options));
        const auto started = set->start();
        EXPECT_TRUE(started) << started.error().message();
    }
    set_in_sim(const set_in_sim&) = delete;
    set_in_sim& operator=(const set_in_sim&) = delete;
    ~set_in_sim()
    {
        for (sim::host* const one : hosts)
            one->crash();
        client.crash();
        set.reset();
    }

    /// Lets time pass in small steps, and looks each time that no term has two primaries.
    void pass(duration span)
    {
        const time_point end = net.now() + span;
        while (net.now() < end) {
            net.run_for(milliseconds{10});
            watch_leaders();
        }
    }
    bool pass_until(const std::function<bool()>& done, duration timeout = seconds{20})
    {
        const time_point end = net.now() + timeout;
        while (net.now() < end && !done()) {
            net.run_for(milliseconds{5});
            watch_leaders();
        }
        return done();
    }
    std::size_t wait_for_primary()
    {
        EXPECT_TRUE(pass_until([&] { return set->primary().has_value(); })) << "no primary";
        return set->primary().value_or(0);
    }
    /// A primary is there that everybody follows.
    std::size_t settle()
    {
        EXPECT_TRUE(pass_until([&] { return settled(); }))
            << "the set does not settle" << received();
        return set->primary().value_or(0);
    }
    bool settled()
    {
        const auto leads = set->primary();
        if (!leads)
            return false;
        for (std::size_t n = 0; n < hosts.size(); ++n) {
            auto* const process = set->process(n);
            if (!process)
                continue;
            const bool fine = n == *leads || process->member()->arbiter() ||
                              (process->member()->readable() && !process->is_primary() &&
                               set->disk_of(n).last() == set->disk_of(*leads).last());
            if (!fine)
                return false;
        }
        return true;
    }
    std::string received()
    {
        std::string all;
        for (std::size_t n = 0; n < hosts.size(); ++n)
            all += '\n' + set->describe(n);
        return all;
    }

    void crash(std::size_t n, bool silent = false)
    {
        hosts[n]->crash(silent);
        set->lost(n);
    }
    void restart(std::size_t n)
    {
        hosts[n]->restart([&](sim::host& on) {
            const auto back = set->restart(n, on.world());
            EXPECT_TRUE(back) << back.error().message();
        });
    }
    void cut_off(std::size_t n)
    {
        for (std::size_t other = 0; other < hosts.size(); ++other) {
            if (other != n)
                net.partition(*hosts[n], *hosts[other]);
        }
    }

    /// One command to one member. Nothing: no answer within that time.
    awaitable<std::optional<bson::document>> ask(std::size_t member, bson::document command,
                                                 duration timeout = seconds{5})
    {
        runtime::world& in = client.world();
        const time_point until = in.steady_now() + timeout;
        auto where = mongo::read_address(set->address(member));
        auto line = co_await mongo::peer::connect(in, *std::move(where), {}, until);
        if (!line)
            co_return std::nullopt;
        const auto reply = co_await (*line)->ask(command.view(), until);
        if (!reply)
            co_return std::nullopt;
        co_return bson::document{*reply};
    }
    static awaitable<void> keep(awaitable<std::optional<bson::document>> from,
                                std::shared_ptr<std::optional<bson::document>> into,
                                std::shared_ptr<bool> done)
    {
        *into = co_await std::move(from);
        *done = true;
    }
    struct pending {
        std::shared_ptr<std::optional<bson::document>> reply;
        std::shared_ptr<bool> done;
    };
    pending begin(std::size_t member, std::string_view json, duration timeout = seconds{5})
    {
        const auto command = bson::from_json(json);
        EXPECT_TRUE(command) << json;
        pending made{std::make_shared<std::optional<bson::document>>(),
                     std::make_shared<bool>(false)};
        client.start(
            keep(ask(member, bson::document{command->view()}, timeout), made.reply, made.done));
        return made;
    }
    /// The same, and waits for it. An empty document if there is no answer.
    bson::document run(std::size_t member, std::string_view json, duration timeout = seconds{5})
    {
        const pending asked = begin(member, json, timeout);
        EXPECT_TRUE(pass_until([&] { return *asked.done; }, timeout + seconds{1})) << json;
        return asked.reply->value_or(bson::document{});
    }
    std::size_t count(std::size_t member, const std::string& ns)
    {
        const collection* const in = set->disk_of(member).data().find(ns);
        return in ? in->count() : 0;
    }

    sim::simulation net;
    sim::host& client;
    std::vector<sim::host*> hosts;
    std::unique_ptr<mongo::deployment> set;

private:
    void watch_leaders()
    {
        for (std::size_t n = 0; n < hosts.size(); ++n) {
            auto* const process = set->process(n);
            if (!process || !process->is_primary())
                continue;
            const auto found = leaders_.emplace(process->member()->term(), n).first;
            EXPECT_EQ(found->second, n) << "two primaries of term " << found->first;
        }
    }
    std::map<std::int64_t, std::size_t> leaders_;
};

inline bool is_ok(const bson::document& reply)
{
    return mongo::said_ok(reply.view());
}

}  // namespace holdfast::lab
