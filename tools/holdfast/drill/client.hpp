#pragma once
#include "holdfast/error.hpp"
#include "runtime/world.hpp"
#include "tools/holdfast/drill/history.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

/// The client library under test, as the drill sees it. Each protocol has an implementation in a
/// folder of its own.
namespace holdfast::drill {

/// The outcome of a write, as far as its client knows it.
struct write_outcome {
    fate end = fate::acknowledged;
    std::string reason = {};  // of a failed or unclear one; the same text for the same cause
};

class client {
public:
    client() = default;
    client(const client&) = delete;
    client& operator=(const client&) = delete;
    virtual ~client() = default;

    /// Carries out one write with its tokens. Notes in the operation how often it completed, and
    /// what the reply reports of its parts. `repeated`: the application has sent it before.
    virtual runtime::awaitable<write_outcome> write(operation& one, bool repeated) = 0;

    /// Makes an empty place for the workload. Fails if there is no deployment to be found.
    virtual runtime::awaitable<result<void>> prepare() = 0;
    /// Reads all that the workload has left and that survives a failover. It is tried again until
    /// that time: the faults are over, and the deployment will be found.
    virtual runtime::awaitable<result<found_state>> read_all(time_point until) = 0;
    /// Removes what prepare() made.
    virtual runtime::awaitable<result<void>> remove_all() = 0;

    virtual runtime::awaitable<void> close() = 0;
};
using client_ptr = std::shared_ptr<client>;

/// Counted over all clients of a workload.
struct client_counts {
    std::atomic<std::uint64_t> retries = 0;  // commands that were sent again
    std::atomic<std::uint64_t> refusals = 0;  // by servers that were overloaded
};

/// Makes the clients of a workload, and knows what they have met.
class connector {
public:
    connector() = default;
    connector(const connector&) = delete;
    connector& operator=(const connector&) = delete;
    virtual ~connector() = default;

    /// A client that writes. Nothing is sent yet; an error is one of the connection string.
    virtual result<client_ptr> connect(runtime::world& in) = 0;
    /// The client that prepares, and reads what is there in the end.
    virtual result<client_ptr> connect_reader(runtime::world& in) = 0;

    virtual const client_counts& counts() const noexcept = 0;
    /// The server that the clients take for the leader; empty while they look for one.
    virtual std::string leader() const = 0;
};

}  // namespace holdfast::drill
