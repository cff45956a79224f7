#pragma once
#include "holdfast/mongo/client.hpp"
#include "runtime/world.hpp"
#include "tools/holdfast/drill/history.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::drill {

/// What all clients of a storm look at and count in.
struct storm_progress {
    std::atomic<bool> stop = false;
    std::atomic<std::size_t> scene = 0;
    std::atomic<std::uint64_t> operations = 0;
    std::atomic<std::uint64_t> acknowledged = 0;
    std::atomic<std::uint64_t> failed = 0;  // or unclear
    std::atomic<std::uint64_t> repeats = 0;  // by applications that do it by themselves
    std::atomic<std::size_t> working = 0;  // clients that have not ended
};

struct work_options {
    std::size_t client = 0;
    std::uint64_t seed = 1;
    std::string database = "holdfast_drill";
    std::string collection = "kelp";
    std::optional<std::chrono::milliseconds> timeout = {};  // of each operation
    std::optional<duration> bound = {};  // within which an operation has to end
    duration pause{};  // between two bursts
    std::size_t burst = 1;  // operations without a pause
    /// What many applications do: whatever fails is done again.
    bool repeats_by_itself = false;
    mongo::write_concern concern = mongo::majority;  // any other is a lie, to be found out
};

/// One application: writes, one after the other, and keeps the record of what it was told.
class worker {
public:
    worker(runtime::world& in, mongo::client with, work_options options, storm_progress& shared);
    worker(const worker&) = delete;
    worker& operator=(const worker&) = delete;

    /// Until the storm's end is announced. The worker must outlive it.
    runtime::awaitable<void> run();

    const std::deque<operation>& history() const noexcept { return history_; }
    const mongo::client& client() const noexcept { return client_; }

private:
    using failure_or_none = std::optional<error>;

    std::uint64_t draw(std::uint64_t below);
    token next_token();
    action choose();
    void plan(operation& one);
    void sign(operation& one);
    void sign_shared(operation& one);
    bson::document signed_change(const operation& one) const;
    bson::document signed_filter(const operation& one) const;

    runtime::awaitable<void> carry_out(operation& one);
    runtime::awaitable<failure_or_none> perform(operation& one);
    runtime::awaitable<failure_or_none> insert_one(operation& one);
    runtime::awaitable<failure_or_none> insert_many(operation& one);
    runtime::awaitable<failure_or_none> update_one(operation& one);
    runtime::awaitable<failure_or_none> find_one_and_update(operation& one);
    runtime::awaitable<failure_or_none> bulk_write(operation& one);
    runtime::awaitable<failure_or_none> delete_one(operation& one);

    runtime::world& world_;
    mongo::client client_;
    mongo::collection documents_;
    work_options options_;
    storm_progress& shared_;
    std::uint64_t chance_;
    std::int64_t tokens_ = 0;
    std::size_t signatures_ = 0;
    std::size_t shared_signatures_ = 0;
    std::size_t repeats_ = 0;  // of the operation under way
    std::vector<token> deletable_;
    std::deque<operation> history_;  // whose elements stay where they are
};

/// What an error means for the write that it ended.
fate fate_of(const error& why) noexcept;
/// What it says of the parts of a write that did several things; nothing where it says nothing.
void note_parts(operation& one, const error& why);
/// What the answer of a find_one_and_update tells. It makes the page where there is none, so an
/// answer without a document tells nothing, and is wrong.
void note_count(operation& one, const std::optional<bson::document>& after);
/// What the answer of a delete_one tells. Who has repeated it himself may have deleted it before.
void note_deletion(operation& one, std::int64_t deleted, bool repeated);
/// Short, and the same for all errors of a kind: "server: NotWritablePrimary".
std::string reason_of(const error& why);

}  // namespace holdfast::drill
