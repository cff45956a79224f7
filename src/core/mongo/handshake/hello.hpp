#pragma once
#include "core/mongo/wire/compression.hpp"
#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/view.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace holdfast::core::mongo {

/// The value of `backpressure` in the handshake. Servers and specifications differ
/// from each other over time, so the resilience profile decides.
enum class backpressure_flag : std::uint8_t {
    boolean,  // true
    version_two  // the string "2"
};

/// Which command asks a server what it is. `legacy` is isMaster, the only one that every server
/// knows; it carries helloOk, and the reply reports whether hello may be used from then on.
enum class hello_command : std::uint8_t { hello, legacy };

/// The stable API that the application has declared.
struct declared_api {
    std::string_view version = {};  // empty: none
    std::optional<bool> strict = {};
    std::optional<bool> deprecation_errors = {};
};

/// Adds it to a command; nothing if there is none.
void write_api(bson::builder& out, const declared_api& api);

/// The command for the first message of a connection. Who declares an API, or is balanced, talks to
/// servers that know hello.
constexpr hello_command first_hello(const declared_api& api, bool load_balanced) noexcept
{
    return api.version.empty() && !load_balanced ? hello_command::legacy : hello_command::hello;
}

/// The first hello on a connection, of an application or of a monitor.
struct handshake_hello {
    hello_command command = hello_command::legacy;
    bool over_op_msg =
        true;  // then the database is named in the command; OP_QUERY names it outside
    bool load_balanced = false;
    backpressure_flag backpressure = backpressure_flag::boolean;
    bson::view client = {};  // client_document()
    std::span<const wire_compressor> compressors = {};
    declared_api api = {};

    /// For connections that will authenticate; monitors never do.
    std::string_view supported_mechanisms_of = {};  // "database.user", as the user wrote it
    std::optional<bson::view> speculative_authenticate = {};  // login_start::speculative
};

void write_hello(bson::builder& out, const handshake_hello& what);

/// Every later hello on a connection: it must not repeat what belongs to the handshake.
struct monitor_hello {
    hello_command command = hello_command::hello;
    declared_api api = {};

    /// For streaming: the server answers when its topologyVersion is no longer this one, or when
    /// the time is up.
    std::optional<bson::view> topology_version = {};
    std::chrono::milliseconds max_await_time = {};
};

void write_hello(bson::builder& out, const monitor_hello& what);

}  // namespace holdfast::core::mongo
