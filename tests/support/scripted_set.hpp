#pragma once
#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/document.hpp"
#include "support/scripted_server.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::proof {

/// What scripted members of one deployment say of themselves. Change it, and announce() where it
/// should be heard at once.
struct scripted_set {
    std::vector<std::string> hosts = {};  // "a:27017"
    std::string primary = {};  // empty: none
    std::vector<std::string> arbiters = {};
    bool sharded = false;  // all are routers of a cluster
    bool streams = true;  // offer topologyVersion
    std::int32_t wire_version = 21;
    std::int32_t election = 1;
    bool has_sessions = true;
    std::map<std::string, std::int64_t, std::less<>> versions = {};  // topologyVersion, per member
    std::map<std::string, std::uint8_t, std::less<>> processes = {};  // changed by a restart

    bson::document version_of(std::string_view me) const
    {
        bson::object_id process;
        process.bytes.fill(static_cast<std::uint8_t>(me.front()));
        if (const auto at = processes.find(me); at != processes.end())
            process.bytes.back() = at->second;
        const auto at = versions.find(me);
        return bson::doc("processId", process, "counter",
                         at == versions.end() ? std::int64_t{1} : at->second);
    }

    bson::document hello_of(std::string_view me) const
    {
        bson::byte_buffer bytes;
        bson::builder out{bytes};
        out.add("helloOk", true).add("isWritablePrimary", sharded || me == primary);
        if (sharded)
            out.add("msg", "isdbgrid");
        else
            write_member(out, me);
        out.add("maxBsonObjectSize", 16 * 1024 * 1024)
            .add("maxMessageSizeBytes", 48'000'000)
            .add("maxWriteBatchSize", 100'000)
            .add("minWireVersion", 0)
            .add("maxWireVersion", wire_version);
        if (has_sessions)
            out.add("logicalSessionTimeoutMinutes", 30);
        if (streams)
            out.add("topologyVersion", version_of(me).view());
        out.add("ok", 1.0);
        (void)out.finish().value();
        return bson::document::adopt(std::move(bytes));
    }

    /// All members know a new primary from now on and report it.
    void elect(std::string who)
    {
        primary = std::move(who);
        ++election;
        for (const std::string& host : hosts)
            ++versions.try_emplace(host, 1).first->second;
    }

private:
    bool is_arbiter(std::string_view who) const
    {
        return std::ranges::find(arbiters, who) != arbiters.end();
    }

    void write_member(bson::builder& out, std::string_view me) const
    {
        out.add("secondary", !is_arbiter(me) && me != primary);
        if (is_arbiter(me))
            out.add("arbiterOnly", true);
        out.add("setName", "rs").add("setVersion", 1).add("me", me);
        {
            auto listed = out.array("hosts");
            for (const std::string& host : hosts) {
                if (!is_arbiter(host))
                    listed.add(host);
            }
        }
        if (!arbiters.empty()) {
            auto others = out.array("arbiters");
            for (const std::string& host : arbiters)
                others.add(host);
        }
        if (!primary.empty())
            out.add("primary", primary);
        if (me == primary) {
            bson::object_id id;
            id.bytes.back() = static_cast<std::uint8_t>(election);
            out.add("electionId", id);
        }
    }
};

/// An error as a server reports it.
template <class... Labels>
bson::document error_reply(std::int32_t code, const Labels&... labels)
{
    return bson::doc("ok", 0.0, "code", code, "errmsg", "scripted", "errorLabels",
                     bson::list(labels...));
}

/// What a server says that has too much to do.
inline bson::document overload_reply()
{
    return error_reply(462, "SystemOverloadedError", "RetryableError");
}

}  // namespace holdfast::proof
