#pragma once
#include "runtime/world.hpp"
#include "tools/holdfast/drill/client.hpp"
#include "tools/holdfast/drill/history.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

namespace holdfast::drill {

/// Shared by all workers of a storm.
struct storm_progress {
    std::atomic<bool> stop = false;
    std::atomic<std::size_t> scenario = 0;
    std::atomic<std::uint64_t> operations = 0;
    std::atomic<std::uint64_t> acknowledged = 0;
    std::atomic<std::uint64_t> failed = 0;  // or unclear
    std::atomic<std::uint64_t> repeats = 0;  // by applications that do it by themselves
    std::atomic<std::size_t> working = 0;  // clients that have not ended
};

/// What a worker draws its operations from, each as often as it is there.
struct work_mix {
    std::span<const action> actions = {};
    bool mixes_durability = false;  // half of the writes ask for one copy only
};
extern const work_mix mongo_mix;
extern const work_mix couchbase_mix;

struct work_options {
    work_mix mix = mongo_mix;
    std::size_t client = 0;
    std::uint64_t seed = 1;
    std::optional<duration> bound = {};  // within which an operation has to end
    duration pause{};  // between two bursts
    std::size_t burst = 1;  // operations without a pause
    /// What many applications do: a write that fails is sent again.
    bool repeats_by_itself = false;
};

/// One application: writes, one after the other, and keeps the record of what was reported to it.
class worker {
public:
    worker(runtime::world& in, client_ptr with, work_options options, storm_progress& shared);
    worker(const worker&) = delete;
    worker& operator=(const worker&) = delete;

    /// Runs until `stop` is set. The worker must outlive it.
    runtime::awaitable<void> run();

    const std::deque<operation>& history() const noexcept { return history_; }
    const client_ptr& client() const noexcept { return client_; }

private:
    std::uint64_t draw(std::uint64_t below);
    token next_token();
    action choose();
    void plan(operation& one);
    void sign(operation& one);
    void sign_shared(operation& one, const std::string& kind, std::size_t& count);

    runtime::awaitable<void> carry_out(operation& one);

    runtime::world& world_;
    client_ptr client_;
    work_options options_;
    storm_progress& shared_;
    std::uint64_t chance_;
    std::int64_t tokens_ = 0;
    std::size_t signatures_ = 0;
    std::size_t shared_signatures_ = 0;
    std::size_t swapped_signatures_ = 0;  // those that are durable
    std::size_t loose_signatures_ = 0;    // and those that are not
    std::vector<token> deletable_;
    std::deque<operation> history_;  // whose elements stay where they are
};

}  // namespace holdfast::drill
