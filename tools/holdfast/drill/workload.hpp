#pragma once
#include "tools/holdfast/drill/client.hpp"
#include "tools/holdfast/drill/history.hpp"
#include "tools/holdfast/drill/worker.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::drill {

struct workload_options {
    std::size_t clients = 8;
    std::uint64_t seed = 1;
    work_mix mix = mongo_mix;
    bool repeats_by_itself = false;
    std::optional<duration> bound = {};  // within which an operation has to end
    std::chrono::milliseconds pause{2};  // of each client, between two operations
};

/// Clients on sockets, with a thread of their own, that write from begin() to finish().
class workload {
public:
    /// Makes the clients; nothing is sent yet.
    static result<std::unique_ptr<workload>> open(std::unique_ptr<connector> by,
                                                  const workload_options& options);
    workload(const workload&) = delete;
    workload& operator=(const workload&) = delete;
    ~workload();

    /// Makes an empty place to write to. Fails if there is no deployment to be found.
    result<void> prepare();
    void begin();
    /// No new operations; false if those under way do not end within that time.
    bool finish(std::chrono::milliseconds time_limit);
    /// Of operations that have ended, or of all after finish().
    std::vector<operation> history() const;
    result<found_state> read_back(std::chrono::milliseconds time_limit);
    /// Leaves nothing behind on the deployment.
    void clean_up();

    storm_progress& progress() noexcept;
    /// Commands that clients sent again, and writes that applications repeated by themselves.
    std::uint64_t retries() const noexcept;
    /// Commands that servers refused because they were overloaded.
    std::uint64_t refusals() const noexcept;
    /// The server that the clients take for the leader; empty while they look for one.
    std::string leader() const;

private:
    struct parts;
    explicit workload(std::unique_ptr<parts> made) noexcept;
    std::unique_ptr<parts> parts_;
};

}  // namespace holdfast::drill
