#pragma once
#include "holdfast/mongo/client.hpp"
#include "tools/holdfast/drill/history.hpp"
#include "tools/holdfast/drill/worker.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::drill {

struct stage_options {
    std::string uri = {};
    std::size_t clients = 8;
    std::uint64_t seed = 1;
    bool retryable_writes = true;
    bool repeats_by_itself = false;
    std::chrono::milliseconds timeout{15'000};  // of each operation
    std::chrono::milliseconds pause{2};  // of each client, between two operations
    std::string collection = "kelp";  // of the database holdfast_drill; must not exist
};

/// Clients on sockets, with a thread of their own, that write from begin() to finish().
class stage {
public:
    /// Reads the connection string; nothing is sent yet.
    static result<std::unique_ptr<stage>> open(stage_options options);
    stage(const stage&) = delete;
    stage& operator=(const stage&) = delete;
    ~stage();

    /// Makes the collection. Fails if there is no deployment to be found.
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
    /// Commands that servers refused because they were too busy.
    std::uint64_t refusals() const noexcept;
    /// Whom the clients take for the primary; empty while they look for one.
    std::string primary() const;

    /// Lets the primary refuse more than so many requests a second. 0: takes them all again.
    result<void> limit_requests(std::int32_t per_second);

private:
    struct parts;
    explicit stage(std::unique_ptr<parts> made) noexcept;
    std::unique_ptr<parts> parts_;
};

}  // namespace holdfast::drill
