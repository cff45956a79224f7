#pragma once
#include "lab/mongo/command/test_node.hpp"
#include "lab/mongo/deployment/all_commands.hpp"
#include "talker.hpp"

#include <memory>
#include <string_view>
#include <utility>

namespace holdfast::lab::hostile {

inline constexpr std::string_view contents[] = {
    R"({"create":"capped","$db":"db","capped":true,"size":65536})",
    R"({"insert":"c","$db":"db","documents":[{"_id":1,"a":[1,2,3],"s":"aXb","n":1.5},
        {"_id":2,"a":{"b":[{"c":1}]},"s":"","n":{"$numberDecimal":"2.50"}},{"_id":3,
        "s":"aaaaaaaaaaaaaaaaaaaaaaaac"},
        {"_id":"x","l":[5,{"k":1}],"d":{"$date":"2024-02-29T12:00:00Z"},"n":-7},{"_id":{"k":1},
        "ref":1,"n":null},
        {"_id":{"$oid":"0102030405060708090a0b0c"},"b":{"$binary":{"base64":"AAEC",
        "subType":"00"}}},
        {"_id":7,"t":{"$timestamp":{"t":5,"i":6}},"r":{"$regularExpression":{"pattern":"x",
        "options":""}}}]})",
    R"({"insert":"d","$db":"db","documents":[{"_id":1,"ref":1},{"_id":2,"ref":"x"},{"_id":3}]})",
    R"({"insert":"capped","$db":"db","documents":[{"_id":1},{"_id":2}]})",
    R"({"insert":"e","$db":"other","documents":[{"_id":1}]})",
    R"({"create":"v","$db":"db","viewOn":"c","pipeline":[{"$match":{"_id":{"$exists":true}}}]})",
    R"({"createIndexes":"c","$db":"db","indexes":[{"key":{"n":1},"name":"n"},{"key":{"a.b":1,
        "s":-1},"name":"as"}]})",
    R"({"createUser":"u","$db":"admin","pwd":"lovelace","roles":["root"]})",
};

struct arena_options {
    bool in_set = false;
    bool auth = false;
    std::string_view version = "8.2";
};

/// A server with some data, all its commands, and a client that sends to it.
class arena {
public:
    explicit arena(const arena_options& options)
        : on{world, std::make_shared<mongo::disk>(oplog_bytes), options_for(options)},
          service{on},
          client{world, service, [this](time_point until) { world.run_until(until); }}
    {
        if (options.in_set) {
            on.member = std::make_unique<lonely_primary>();
            for (const std::span<const mongo::command> part : mongo::all_commands())
                on.add_commands(part);
        } else {
            mongo::add_all_commands(on);
        }
        client.internal = true;  // may do it all, also where a login is wanted
        for (const std::string_view one : contents) {
            const bson::document reply = client.run(one);
            EXPECT_EQ(reply.get<double>("ok").value_or(0), 1) << one << "\n"
                                                              << bson::to_json(reply).value_or("?");
        }
        client.hang_up();
        client.internal = !options.auth;
    }

    /// Lifts what a client may have brought upon others by the commands that are there for it.
    void calm()
    {
        on.faults.clear();
        on.requests = {};
        on.connections = {};
    }
    bool answers_ping()
    {
        talker other{world, service, [this](time_point until) { world.run_until(until); }};
        const bson::document reply = other.run(R"({"ping":1,"$db":"admin"})");
        return reply.get<double>("ok").value_or(0) == 1;
    }

    static constexpr std::int64_t oplog_bytes = 20 << 20;  // the largest document fits

    proof::virtual_world world;
    mongo::node on;
    mongo::node_service service;
    talker client;

private:
    static mongo::node_options options_for(const arena_options& options)
    {
        mongo::node_options made;
        made.version = *mongo::read_version(options.version);
        made.auth = options.auth;
        made.own_address = "localhost:27017";
        return made;
    }
};

}  // namespace holdfast::lab::hostile
