#pragma once
#include "holdfast/error.hpp"
#include "holdfast/id.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

/// What tracers and metrics get of the operations of a client: when each began and ended, and each
/// of its attempts. docs/observability.md shows how a tracer takes it up.
namespace holdfast {

/// What an operation belongs to in the application's own tracing, such as the span of the request
/// that it serves. The library keeps it for the observers, and does not look into it.
using trace_parent = std::shared_ptr<const void>;

namespace observed {

/// An operation: all attempts from the call to its outcome. An empty text is one that it has not.
struct operation {
    std::uint64_t id = 0;  // its number among the operations of the client
    std::string_view system = {};  // "couchbase"
    std::string_view service = {};  // "kv", "query"
    std::string_view name = {};  // "get"
    std::string_view database = {};  // the bucket
    std::string_view scope = {};
    std::string_view collection = {};
    std::string_view statement = {};  // as it was given: without the parameters
    std::chrono::milliseconds timeout{};  // zero: none
    time_point began{};
    std::chrono::system_clock::time_point began_at{};  // the same moment by the wall clock
    trace_parent parent = {};
};

/// The connection that an attempt was made over.
struct connection {
    endpoint server = {};
    std::string local = {};  // the socket at this end, "10.0.0.1:52450", if it is known
    std::string id = {};     // the name that the server knows it by
};

/// A request that was handed to a connection. What could not be sent at all is no attempt.
struct attempt {
    std::uint32_t number = 1;
    const connection& over;
    std::string_view request = {};  // its id on the wire: "0x400"
    time_point began{};
};

struct operation_began {
    const operation& of;
};

struct attempt_began {
    const operation& of;
    const attempt& which;
};

struct attempt_ended {
    const operation& of;
    const attempt& which;
    time_point ended{};
    dispatch_phase phase = dispatch_phase::answered;
    std::optional<std::chrono::microseconds> server_duration = {};  // as the server reports it
    error_code code = {};  // none: it succeeded
    std::string_view reason = {};  // of a retry, "KV_LOCKED", whether there is one or not
};

struct operation_ended {
    const operation& of;
    time_point ended{};
    std::uint32_t attempts = 0;  // requests that were sent
    std::uint32_t retries = 0;   // also those that could not be sent
    duration encoding{};  // until the first request was built
    const error* why = nullptr;  // null: success
};

/// Why a request had no receiver any more when its reply came.
enum class orphan_cause : std::uint8_t { timed_out, cancelled };

/// A reply that came after its request was given up.
struct reply_orphaned {
    std::uint64_t operation = 0;  // the operation's id
    std::string_view service = {};
    std::string_view name = {};
    const connection& over;
    std::string_view request = {};
    orphan_cause cause = orphan_cause::timed_out;
    duration total{};  // since the operation began
    duration since_dispatch{};
    std::optional<std::chrono::microseconds> server_duration = {};
};

/// The observers were slower than the client: of so many operations, and so many attempts of
/// others, nothing is reported.
struct records_dropped {
    std::uint64_t operations = 0;
    std::uint64_t attempts = 0;
};

}  // namespace observed

/// Is notified of all operations of a client, in order, one event at a time, and never by a thread
/// that serves a connection: see cluster_options::observers_on. The events of a queue that has
/// become too long are dropped, and counted. All views are valid during the call only.
///
/// An operation that is reported to begin is reported to end, and so is an attempt; its attempts
/// lie between. That also holds if others are dropped.
class observer {
public:
    virtual ~observer() = default;
    virtual void on(const observed::operation_began&) noexcept {}
    virtual void on(const observed::attempt_began&) noexcept {}
    virtual void on(const observed::attempt_ended&) noexcept {}
    virtual void on(const observed::operation_ended&) noexcept {}
    virtual void on(const observed::reply_orphaned&) noexcept {}
    virtual void on(const observed::records_dropped&) noexcept {}
};

/// "timed_out", "cancelled"
std::string_view name_of(observed::orphan_cause cause) noexcept;

}  // namespace holdfast
