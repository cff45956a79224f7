// Does one piece of the core's work again and again; bench/core/run.py is the one who calls it.
//
//   bench_core rows     the names of all pieces
//   bench_core ROW N    the work N times, and a checksum over what came of it
//
// Instructions for one piece are the difference of two runs with different N.
#include "core/couchbase/config/offer.hpp"
#include "core/mongo/retry/decide.hpp"
#include "core/mongo/sdam/transition.hpp"
#include "core/mongo/select/snapshot.hpp"
#include "holdfast/bson/json.hpp"
#include "holdfast/bson/validate.hpp"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

namespace holdfast::bench {
namespace {

using namespace core::mongo;

constexpr time_point now{std::chrono::hours{1}};

/// A few instructions of chance, always the same.
class chance {
public:
    std::uint64_t next() noexcept { return state_ = state_ * 6364136223846793005u + 1; }

private:
    std::uint64_t state_ = 1;
};

endpoint member(std::size_t i)
{
    return endpoint{"member" + std::to_string(i) + ".example.com:27017"};
}

/// What a member of a replica set says, as bytes.
bson::document hello_of(std::size_t i, std::size_t members, bool is_primary)
{
    std::string hosts;
    for (std::size_t h = 0; h < members; ++h)
        hosts += (h == 0 ? "\"" : ", \"") + member(h).value() + "\"";
    const std::string text =
        R"({"topologyVersion": {"processId": {"$oid": "0123456789abcdef01234567"},
            "counter": {"$numberLong": "7"}}, "hosts": [)" +
        hosts + R"(], "setName": "rs", "setVersion": 3, "isWritablePrimary": )" +
        (is_primary ? "true" : "false") + R"(, "secondary": )" + (is_primary ? "false" : "true") +
        R"(, "primary": ")" + member(0).value() + R"(", "me": ")" + member(i).value() +
        R"(", "electionId": {"$oid": "7fffffff0000000000000001"},
            "lastWrite": {"lastWriteDate": {"$date": "2026-01-01T00:00:00Z"},
                          "opTime": {"ts": {"$timestamp": {"t": 1, "i": 1}}, "t": 1}},
            "maxBsonObjectSize": 16777216, "maxMessageSizeBytes": 48000000,
            "maxWriteBatchSize": 100000, "localTime": {"$date": "2026-01-01T00:00:00Z"},
            "logicalSessionTimeoutMinutes": 30, "connectionId": 5, "minWireVersion": 0,
            "maxWireVersion": 25, "readOnly": false, "ok": 1.0})";
    return bson::from_json(text).value();
}

topology_ptr replica_set(std::size_t members)
{
    topology_settings settings;
    settings.seeds = {member(0)};
    topology_ptr t = open_topology(settings).after;
    for (std::size_t i = 0; i < members; ++i) {
        const bson::document reply = hello_of(i, members, i == 0);
        const round_trip_times rtt{std::chrono::milliseconds{5}, std::chrono::milliseconds{4}};
        t = apply_check(t, parse_hello(member(i), reply, rtt, now)).after;
    }
    return t;
}

topology_ptr mongoses(std::size_t count)
{
    topology_settings settings;
    settings.seeds.clear();
    for (std::size_t i = 0; i < count; ++i)
        settings.seeds.push_back(member(i));
    topology_ptr t = open_topology(settings).after;
    for (std::size_t i = 0; i < count; ++i) {
        server_description s = unknown_server(member(i));
        s.type = server_type::mongos;
        s.max_wire_version = 25;
        s.round_trip_time = std::chrono::milliseconds{5};
        t = apply_check(t, std::move(s)).after;
    }
    return t;
}

using work = std::function<std::uint64_t(int times)>;

/// As an operation would: ask what is ready for its request, choose the less busy of two.
work select_from(topology_ptr t)
{
    const std::vector<std::uint32_t> running(t->servers.size(), 3);
    return [snapshot = selection_snapshot{std::move(t), {}}, running](int times) {
        chance bits;
        std::uint64_t sum = 0;
        for (int i = 0; i < times; ++i) {
            const selection_request request{.kind = operation_kind::write};
            const auto* const ready = snapshot.prepared(request);
            const std::uint32_t at = choose(*ready, bits.next(),
                                            [&](std::uint32_t p) { return running[p]; });
            sum += at + static_cast<std::uint64_t>(snapshot.topology()->servers[at]->type);
        }
        return sum;
    };
}

work decide_about(bool overload)
{
    return [overload](int times) {
        retry_policy policy{.kind = retry_kind::write, .repeatable = true, .adaptive = true};
        policy.until = core::deadline{now + std::chrono::seconds{30}};
        failed_attempt failed{.origin = overload ? failure_origin::server
                                                 : failure_origin::network};
        failed.labels = {.system_overloaded = overload, .retryable = overload};
        failed.max_wire_version = 25;
        std::uint64_t sum = 0;
        core::token_bucket tokens;
        chance bits;
        for (int i = 0; i < times; ++i) {
            const retry_progress progress{.retries = static_cast<std::uint32_t>(i % 5)};
            const double drawn = static_cast<double>(bits.next() >> 40) / (1 << 24);
            const retry_decision d = decide(policy, progress, failed, tokens, now, drawn);
            sum += static_cast<std::uint64_t>(d.outcome) +
                   static_cast<std::uint64_t>(d.wait.count()) + d.progress.retries;
        }
        return sum;
    };
}

/// Bytes from the network, checked, parsed and applied to the topology they came from. A first
/// reply has no description of its server to compare with.
work hear(std::size_t from, bool first)
{
    return [from, first](int times) {
        const topology_ptr before = replica_set(50);
        const server_ptr known = first ? nullptr : before->find(member(from));
        const bson::document reply = hello_of(from, 50, from == 0);
        const endpoint address = member(from);
        std::uint64_t sum = 0;
        for (int i = 0; i < times; ++i) {
            const auto valid = bson::validate(reply.bytes());
            const transition t = apply_check(before,
                                             parse_hello(address, *valid, {}, now, known.get()));
            sum += t.after->servers.size() + t.effects.size() + t.events.size();
        }
        return sum;
    };
}

/// A bucket's configuration as servers since 7.0 send it: the revision first, 1,024 vbuckets.
std::string bucket_configuration()
{
    std::string map;
    for (int v = 0; v != 1024; ++v)
        map += (v == 0 ? "[" : ",[") + std::to_string(v % 3) + "," + std::to_string((v + 1) % 3) +
               "]";
    std::string servers;
    std::string nodes;
    for (std::size_t n = 0; n != 3; ++n) {
        const std::string host = "node" + std::to_string(n) + ".example.com";
        servers += (n == 0 ? "\"" : ",\"") + host + ":11210\"";
        nodes += std::string{n == 0 ? "" : ","} +
                 R"({"services":{"mgmt":8091,"kv":11210},"hostname":")" + host + "\"}";
    }
    return R"({"rev":120,"revEpoch":1,"name":"travel","nodeLocator":"vbucket",)"
           R"("uuid":"c604594ab4602d14da3d099e4fa543bb","nodesExt":[)" +
           nodes + R"(],"bucketCapabilities":["collections","durableWrite","cccp"],)" +
           R"("vBucketServerMap":{"hashAlgorithm":"CRC","numReplicas":1,"serverList":[)" + servers +
           R"(],"vBucketMap":[)" + map + "]}}";
}

/// The configuration in use comes again, as the body of a refusal.
work known_configuration()
{
    return [text = bucket_configuration()](int times) {
        core::couchbase::config_intake intake;
        const core::couchbase::config_offer offered{text, "node0.example.com", "travel"};
        std::uint64_t sum = intake.consider(offered).config->bucket->map.size;
        for (int i = 0; i < times; ++i)
            sum += static_cast<std::uint64_t>(intake.consider(offered).is);
        return sum;
    };
}

const std::map<std::string_view, std::function<work()>> rows{
    {"known_configuration", known_configuration},
    {"select_member_3", [] { return select_from(replica_set(3)); }},
    {"select_member_50", [] { return select_from(replica_set(50)); }},
    {"select_member_1000", [] { return select_from(replica_set(1000)); }},
    {"select_mongos_3", [] { return select_from(mongoses(3)); }},
    {"select_mongos_50", [] { return select_from(mongoses(50)); }},
    {"select_mongos_1000", [] { return select_from(mongoses(1000)); }},
    {"retry_network", [] { return decide_about(false); }},
    {"retry_overload", [] { return decide_about(true); }},
    {"hello_primary_50", [] { return hear(0, false); }},
    {"hello_secondary_50", [] { return hear(1, false); }},
    {"first_hello_primary_50", [] { return hear(0, true); }},
};

int run(int argc, char** argv)
{
    if (argc == 2 && std::string_view{argv[1]} == "rows") {
        for (const auto& row : rows)
            std::puts(row.first.data());
        return 0;
    }
    const auto row = argc == 3 ? rows.find(argv[1]) : rows.end();
    if (row == rows.end())
        throw std::invalid_argument{"usage: bench_core rows | ROW N"};
    std::printf("%llu\n", static_cast<unsigned long long>(row->second()(std::atoi(argv[2]))));
    return 0;
}

}  // namespace
}  // namespace holdfast::bench

int main(int argc, char** argv)
try {
    return holdfast::bench::run(argc, argv);
} catch (const std::exception& e) {
    std::fprintf(stderr, "bench_core: %s\n", e.what());
    return 2;
}
