#include "lab/mongo/command/server_info.hpp"

#include "lab/mongo/command/fields.hpp"
#include "lab/mongo/command/writer.hpp"
#include "lab/mongo/document/server_code.hpp"

#include <chrono>
#include <string>
#include <utility>

namespace holdfast::lab::mongo {

namespace {

constexpr field_rule list_commands_rules[] = {{"verbose", kind::ignored}};

constexpr std::string_view engine = "lab";  // what buildInfo and serverStatus call the storage

std::pair<std::string, std::int32_t> host_and_port(const node& on)
{
    const std::string& address = on.options.own_address;
    const std::size_t colon = address.rfind(':');
    if (colon == std::string::npos)
        return {address.empty() ? "localhost" : address, 27017};
    std::int32_t port = 0;
    for (const char c : std::string_view{address}.substr(colon + 1)) {
        if (c >= '0' && c <= '9' && port < 100'000)
            port = port * 10 + (c - '0');
    }
    return {address.substr(0, colon), port};
}

void write_limiter(const rate_limiter& of, std::string_view name, bson::builder& to)
{
    auto out = to.document(name);
    out.add("enabled", of.enabled());
    out.add("attemptedAdmissions", static_cast<std::int64_t>(of.admitted() + of.refused()));
    out.add("successfulAdmissions", static_cast<std::int64_t>(of.admitted()));
    out.add("rejectedAdmissions", static_cast<std::int64_t>(of.refused()));
}

void write_counters(const node& on, bson::builder& reply)
{
    const std::int64_t none = 0;
    reply.add("asserts",
              bson::object("regular", 0, "warning", 0, "msg", 0, "user", 0, "rollovers", 0));
    reply.add("connections",
              bson::object("current", static_cast<std::int32_t>(on.open_connections), "available",
                           819200, "totalCreated", on.open_connections, "active", 1));
    reply.add("network", bson::object("bytesIn", none, "bytesOut", none, "numRequests", none));
    reply.add("opcounters", bson::object("insert", none, "query", none, "update", none, "delete",
                                         none, "getmore", none, "command", none));
    reply.add("mem", bson::object("bits", 64, "resident", 0, "virtual", 0, "supported", true));
    reply.add("logicalSessionRecordCache",
              bson::object("activeSessionsCount", static_cast<std::int32_t>(on.sessions().size())));
    reply.add("metrics",
              bson::object("cursor",
                           bson::object("open", bson::object("total", static_cast<std::int64_t>(
                                                                          on.cursors.size())))));
    auto queues = reply.document("queues");
    write_limiter(on.requests, "ingress", queues);
    write_limiter(on.connections, "ingressSessionEstablishment", queues);
}

}  // namespace

void write_server_info(const node& on, bson::builder& reply)
{
    const auto [host, port] = host_and_port(on);
    reply.add("serverInfo", bson::object("host", host, "port", port, "version",
                                         on.options.version.text(), "gitVersion", ""));
    reply.add("serverParameters", bson::object());
}

result<progress> run_ping(node& on, request& what, bson::builder&)
{
    if (auto read = fields<no_rules>::read(on, what); !read)
        return std::move(read).error();
    return progress::done;
}

result<progress> run_build_info(node& on, request& what, bson::builder& reply)
{
    if (auto read = fields<no_rules>::read(on, what); !read)
        return std::move(read).error();
    const server_version& version = on.options.version;
    reply.add("version", version.text());
    reply.add("gitVersion", "0000000000000000000000000000000000000000");
    reply.add("modules", bson::list()).add("allocator", "system").add("javascriptEngine", "none");
    reply.add("sysInfo", "deprecated");
    reply.add("versionArray", bson::list(version.major, version.minor, version.patch, 0));
    reply.add("openssl", bson::object("running", "OpenSSL 3", "compiled", "OpenSSL 3"));
    reply.add("buildEnvironment", bson::object("distmod", "holdfast lab"));
    reply.add("bits", 64).add("debug", false);
    reply.add("maxBsonObjectSize", static_cast<std::int32_t>(largest_document));
    reply.add("storageEngines", bson::list(engine));
    return progress::done;
}

result<progress> run_host_info(node& on, request& what, bson::builder& reply)
{
    if (auto read = fields<no_rules>::read(on, what); !read)
        return std::move(read).error();
    reply.add("system", bson::object("currentTime", on.wall_now(), "hostname",
                                     host_and_port(on).first, "cpuAddrSize", 64, "memSizeMB",
                                     std::int64_t{0}, "memLimitMB", std::int64_t{0}, "numCores", 1,
                                     "cpuArch", "x86_64", "numaEnabled", false));
    reply.add("os", bson::object("type", "Linux", "name", "holdfast lab", "version", ""));
    reply.add("extra", bson::object());
    return progress::done;
}

result<progress> run_server_status(node& on, request& what, bson::builder& reply)
{
    // Every section may be switched on or off by its name, so all fields are welcome.
    const auto [host, port] = host_and_port(on);
    const auto up = std::chrono::duration_cast<std::chrono::milliseconds>(
        what.arrived.time_since_epoch());
    reply.add("host", host + ":" + std::to_string(port)).add("version", on.options.version.text());
    reply.add("process", "mongod").add("service", bson::list("shard")).add("pid", std::int64_t{1});
    reply.add("uptime", static_cast<double>(up.count() / 1000));
    reply.add("uptimeMillis", std::int64_t{up.count()});
    reply.add("uptimeEstimate", std::int64_t{up.count() / 1000}).add("localTime", on.wall_now());
    write_counters(on, reply);
    if (on.member->in_set()) {
        auto repl = reply.document("repl");
        on.member->describe(repl, false);
    }
    reply.add("storageEngine", bson::object("name", engine, "supportsCommittedReads", true,
                                            "supportsSnapshotReadConcern", true, "readOnly", false,
                                            "persistent", false));
    reply.add("transactions", bson::object("retriedCommandsCount", std::int64_t{0},
                                           "retriedStatementsCount", std::int64_t{0}));
    return progress::done;
}

result<progress> run_get_cmd_line_opts(node& on, request& what, bson::builder& reply)
{
    if (auto read = fields<no_rules>::read(on, what); !read)
        return std::move(read).error();
    reply.add("argv", bson::list("holdfast", "lab"));
    auto parsed = reply.document("parsed");
    parsed.add("net", bson::object("port", host_and_port(on).second));
    parsed.add("setParameter", bson::object("enableTestCommands", "1"));
    if (on.options.auth)
        parsed.add("security", bson::object("authorization", "enabled"));
    return progress::done;
}

result<progress> run_get_log(node& on, request& what, bson::builder& reply)
{
    if (auto read = fields<no_rules>::read(on, what); !read)
        return std::move(read).error();
    const bson::element first = *what.body.begin();
    if (first.type() != bson::type::string)
        return wrong_type("getLog", "getLog", first.type(), "string");
    const std::string_view name = first.as_string();
    if (name == "*") {
        reply.add("names", bson::list("global", "startupWarnings"));
        return progress::done;
    }
    if (name != "global" && name != "startupWarnings")
        return refuse(server_code::operation_failed, "No log named '" + std::string{name} + "'");
    reply.add("totalLinesWritten", 0).add("log", bson::list());
    return progress::done;
}

result<progress> run_whats_my_uri(node& on, request& what, bson::builder& reply)
{
    if (auto read = fields<no_rules>::read(on, what); !read)
        return std::move(read).error();
    reply.add("you", what.client.peer);
    return progress::done;
}

result<progress> run_conn_pool_stats(node& on, request& what, bson::builder& reply)
{
    if (auto read = fields<no_rules>::read(on, what); !read)
        return std::move(read).error();
    reply.add("numClientConnections", 0).add("numAScopedConnections", 0).add("totalInUse", 0);
    reply.add("totalAvailable", 0).add("totalCreated", 0).add("totalRefreshing", 0);
    reply.add("pools", bson::object()).add("hosts", bson::object());
    return progress::done;
}

result<progress> run_features(node& on, request& what, bson::builder& reply)
{
    if (auto read = fields<no_rules>::read(on, what); !read)
        return std::move(read).error();
    reply.add("js", bson::object("utf8", true)).add("oidMachine", 0);
    return progress::done;
}

result<progress> run_list_commands(node& on, request& what, bson::builder& reply)
{
    if (auto read = fields<list_commands_rules>::read(on, what); !read)
        return std::move(read).error();
    auto all = reply.document("commands");
    for (const command* const one : on.commands()) {
        auto entry = all.document(one->name);
        entry.add("help", "").add("requiresAuth", one->needs_login);
        entry.add("secondaryOk", !one->writes).add("adminOnly", one->admin_only);
        {
            auto versions = entry.array("apiVersions");
            if (one->in_api_v1)
                versions.add("1");
        }
        entry.add("deprecatedApiVersions", bson::list());
    }
    return progress::done;
}

result<progress> run_configure_fail_point(node& on, request& what, bson::builder& reply)
{
    auto count = on.faults.configure(what.body);
    if (!count)
        return std::move(count).error();
    reply.add("count", *count);
    return progress::done;
}

}  // namespace holdfast::lab::mongo
