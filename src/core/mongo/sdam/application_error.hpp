#pragma once
#include "core/mongo/sdam/transition.hpp"
#include "core/mongo/settings/profile.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::core::mongo {

/// What a state-change error says about the server that sent it.
enum class state_change : std::uint8_t { none, not_writable_primary, recovering, shutting_down };

/// By its code if there is one, by its text only if there is none (SDAM's own rule; retrying has
/// another one).
state_change classify_state_change(std::optional<std::int32_t> code, std::string_view message);

/// The same for a command's reply: its own error, else its write concern error; never its write
/// errors.
struct reply_error {
    state_change change = state_change::none;
    std::optional<std::int32_t> code = {};
    std::string message = {};
};
reply_error inspect_reply(bson::view reply);

enum class connection_phase : std::uint8_t {
    connecting,      // TCP, TLS and hello; nothing of the server is known yet
    authenticating,  // after hello, before the connection is ready
    ready,
};

enum class failure_kind : std::uint8_t { network, timeout, command, authentication };

/// Whether it broke, or only the time was up: a server that is slow is not lost.
failure_kind kind_of_broken_connection(error_code why) noexcept;

/// Something went wrong on a connection of the application.
struct application_error {
    endpoint server;
    failure_kind kind = failure_kind::network;
    connection_phase phase = connection_phase::ready;
    std::uint32_t generation = 0;  // of the connection, or of the pool when it was begun
    std::int32_t max_wire_version = 0;  // of the connection
    error cause;  // what the application sees
    bson::view reply = {};  // of a command error
    std::optional<std::int32_t> refusal = {};  // the code of a server that refused hello or login
    std::optional<bson::object_id> service_id = {};
    bool never_overload = false;  // while connecting: overload cannot have been the cause
};

/// What such an error does to the topology. `pool_generation` is the pool's, or the service's, at
/// this moment: an error of an older generation is stale and changes nothing.
transition apply_error(const topology_ptr& before, const application_error& e,
                       std::uint32_t pool_generation, const resilience_profile& profile,
                       time_point now, wire_range client = {});

/// A failed check of a monitor: the server is unknown, its pool is cleared.
transition apply_failed_check(const topology_ptr& before, const endpoint& server, error cause,
                              failure_kind kind, time_point now, wire_range client = {});

}  // namespace holdfast::core::mongo
