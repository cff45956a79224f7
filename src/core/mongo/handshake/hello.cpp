#include "core/mongo/handshake/hello.hpp"

namespace holdfast::core::mongo {

namespace {

void write_command(bson::builder& out, hello_command command)
{
    switch (command) {
    case hello_command::hello:
        out.put("hello", std::int32_t{1});
        break;
    case hello_command::legacy:
        out.put("isMaster", std::int32_t{1});
        out.put("helloOk", true);
        break;
    }
}

void write_backpressure(bson::builder& out, backpressure_flag flag)
{
    switch (flag) {
    case backpressure_flag::boolean:
        out.put("backpressure", true);
        break;
    case backpressure_flag::version_two:
        out.put("backpressure", std::string_view{"2"});
        break;
    }
}

void write_compressors(bson::builder& out, std::span<const wire_compressor> compressors)
{
    auto names = out.array("compression");  // empty if there are none: the server is to know
    for (const wire_compressor each : compressors)
        names.add(name_of(each));
}

}  // namespace

void write_api(bson::builder& out, const declared_api& api)
{
    if (api.version.empty())
        return;
    out.put("apiVersion", api.version);
    if (api.strict)
        out.put("apiStrict", *api.strict);
    if (api.deprecation_errors)
        out.put("apiDeprecationErrors", *api.deprecation_errors);
}

void write_hello(bson::builder& out, const handshake_hello& what)
{
    write_command(out, what.command);
    if (what.load_balanced)
        out.put("loadBalanced", true);
    write_backpressure(out, what.backpressure);
    out.put("client", what.client);
    write_compressors(out, what.compressors);
    if (!what.supported_mechanisms_of.empty())
        out.put("saslSupportedMechs", what.supported_mechanisms_of);
    if (what.speculative_authenticate)
        out.put("speculativeAuthenticate", *what.speculative_authenticate);
    write_api(out, what.api);
    if (what.over_op_msg)
        out.put("$db", std::string_view{"admin"});
}

void write_hello(bson::builder& out, const monitor_hello& what)
{
    write_command(out, what.command);
    if (what.topology_version) {
        out.put("topologyVersion", *what.topology_version);
        out.put("maxAwaitTimeMS", std::int64_t{what.max_await_time.count()});
    }
    write_api(out, what.api);
    out.put("$db", std::string_view{"admin"});
}

}  // namespace holdfast::core::mongo
