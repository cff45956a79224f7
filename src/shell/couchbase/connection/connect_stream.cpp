#include "shell/couchbase/connection/connect_stream.hpp"

#include "core/uri/host.hpp"
#include "holdfast/couchbase/errc.hpp"

#include <string>
#include <utility>
#include <vector>

namespace holdfast::shell::couchbase {

namespace {

/// To one of the addresses of that family, tried one after the other.
runtime::awaitable<result<runtime::stream_ptr>> connect_by_family(
    runtime::world& in, runtime::destination where, core::couchbase::ip_protocol family,
    time_point until)
{
    const bool wants_v6 = family == core::couchbase::ip_protocol::force_ipv6;
    auto addresses = co_await in.resolve(where.host, until);
    if (!addresses)
        co_return std::move(addresses).error();
    error last{holdfast::couchbase::errc::unknown_host,
               "cannot connect to " + where.host + ": it has no " + (wants_v6 ? "IPv6" : "IPv4") +
                   " address, and ip_protocol asks for one"};
    for (std::string& one : *addresses) {
        if ((one.find(':') != std::string::npos) != wants_v6)
            continue;
        runtime::destination there;
        there.host = std::move(one);
        there.port = where.port;
        auto stream = co_await in.connect(std::move(there), until);
        if (stream)
            co_return stream;
        last = std::move(stream).error();
    }
    co_return last;
}

/// By which options a CA is given.
error with_advice(const error& why)
{
    error longer{why.code(), why.message() +
                                 ", by trust_certificate in the connection string, or its text by "
                                 "cluster_options::trusted_certificates"};
    for (const context_entry& fact : why.context())
        longer = std::move(longer).with_context(fact.name, fact.value);
    return longer;
}

}  // namespace

runtime::awaitable<result<runtime::stream_ptr>> connect_stream(
    runtime::world& in, std::shared_ptr<const connection_config> config,
    std::shared_ptr<const login> with, endpoint server, time_point until)
{
    const core::uri::host_and_port parts = core::uri::split_host(server.value());
    runtime::destination where;
    where.host = parts.host;
    where.port = parts.port.value_or(0);
    const bool any = config->ip_protocol == core::couchbase::ip_protocol::any;
    auto connecting = any ? in.connect(std::move(where), until)
                          : connect_by_family(in, std::move(where), config->ip_protocol, until);
    auto stream = co_await std::move(connecting);
    if (!stream || !with->tls)
        co_return stream;
    runtime::stream_ptr plain = *std::move(stream);
    plain->expires_at(until);
    auto secure = co_await with->tls->connect(std::move(plain), parts.host);
    if (!secure && secure.error().context("issuer") == runtime::issuer_unknown)
        co_return with_advice(secure.error());
    co_return secure;
}

bool is_tls_failure(const error& why) noexcept
{
    const bool broke_off = why.context("handshake") == runtime::handshake_broke_off;
    return why.code() == runtime::errc::certificate_rejected ||
           (why.code() == runtime::errc::tls_failed && !broke_off);
}

error in_phase(error why, const char* phase, const endpoint& server)
{
    if (why.context("phase").empty())
        why = std::move(why).with_context("phase", phase);
    return std::move(why).with_context("server", server.value());
}

}  // namespace holdfast::shell::couchbase
