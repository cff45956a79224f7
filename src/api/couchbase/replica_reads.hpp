#pragma once
#include "api/couchbase/start_call.hpp"
#include "core/couchbase/config/cluster_config.hpp"
#include "runtime/background.hpp"
#include "runtime/wait.hpp"
#include "shell/couchbase/execute/execute.hpp"

#include <boost/asio/this_coro.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Reads of several copies of one document at a time: a request for each, with its own retries, and
/// one outcome of them all.
namespace holdfast::couchbase::details {

/// What became of one copy.
template <class T>
using copy_outcome = std::optional<result<T>>;

/// The error of a read of which no copy could be made use of, from the errors of all copies in
/// their order. The error that all nodes agree on is given as it is; else the document is
/// irretrievable, and the message says why for each copy.
error no_copy_read(std::vector<error> of);

/// What the reads of one call share. It lives until the last of them has ended.
template <class T>
struct copy_reads {
    copy_reads(runtime::world& in, std::vector<runtime::awaitable<result<T>>> all)
        : one_ended{in}, reads{std::move(all)}, outcomes(reads.size()), tasks{in}
    {
    }

    void ended(std::size_t copy, result<T> with)
    {
        {
            const std::scoped_lock lock{mutex};
            if (with)
                ++successes;
            ++done;
            outcomes[copy].emplace(std::move(with));
        }
        one_ended.notify();
    }

    runtime::event one_ended;
    std::vector<runtime::awaitable<result<T>>> reads;  // that have yet to begin, by copy
    std::mutex mutex;
    std::size_t done = 0;
    std::size_t successes = 0;
    std::vector<copy_outcome<T>> outcomes;  // by copy
    runtime::background tasks;
};

template <class T>
runtime::awaitable<void> read_copy(std::weak_ptr<copy_reads<T>> run, std::size_t copy,
                                   runtime::awaitable<result<T>> read)
{
    auto got = co_await std::move(read);
    if (const auto waits = run.lock())
        waits->ended(copy, std::move(got));
}

enum class copies_wanted : std::uint8_t { any, all };

/// Waits for the first success, or for all of them; gives what was read, in the order of copies.
template <class T>
runtime::awaitable<result<std::vector<T>>> gather(std::shared_ptr<copy_reads<T>> run,
                                                  copies_wanted want)
{
    // A cancelled operation is a failed one: Asio would throw out of the next co_await.
    const bool caller_wants_throw = co_await asio::this_coro::throw_if_cancelled();
    co_await asio::this_coro::throw_if_cancelled(false);
    bool cancelled = false;
    for (std::size_t copy = 0; copy != run->reads.size(); ++copy)
        run->tasks.start(read_copy<T>(run, copy, std::move(run->reads[copy])));
    for (;;) {
        const std::uint64_t seen = run->one_ended.count();
        {
            const std::scoped_lock lock{run->mutex};
            if (run->done == run->outcomes.size() ||
                (want == copies_wanted::any && run->successes != 0))
                break;
        }
        const runtime::wait_end end = co_await run->one_ended.wait(seen);
        cancelled = end == runtime::wait_end::cancelled;
        if (cancelled)
            break;
    }
    run->tasks.stop();
    co_await asio::this_coro::throw_if_cancelled(caller_wants_throw);
    if (cancelled)
        co_return error{errc::request_canceled, "cancelled while copies were read"};
    std::vector<T> found;
    std::vector<error> failed;
    const std::scoped_lock lock{run->mutex};
    for (copy_outcome<T>& one : run->outcomes) {
        if (one && *one)
            found.push_back(**std::move(one));
        else if (one)
            failed.push_back(std::move(*one).error());
    }
    if (found.empty())
        co_return no_copy_read(std::move(failed));
    co_return found;
}

template <class T>
runtime::awaitable<result<T>> first_of(std::shared_ptr<copy_reads<T>> run)
{
    auto found = co_await gather(std::move(run), copies_wanted::any);
    if (!found)
        co_return std::move(found).error();
    co_return std::move(found->front());
}

/// How many copies to ask for: as many as the bucket has, if that is known.
std::size_t copies_to_ask(const collection_place& in);

/// The error of a preference for a server group that the cluster was not given.
std::optional<error> check_preference(const collection_place& in, read_preference preference);

/// The reads of all copies, yet to begin. `make(copy, context)` makes the operation of one of them.
template <class T, class Call, class Make>
result<std::shared_ptr<copy_reads<T>>> make_reads(const collection_place& in, const Call& call,
                                                  Make&& make)
{
    if (auto problem = check_preference(in, call.options.read_preference))
        return *std::move(problem);
    core::couchbase::operation_context context;
    context.timeout = timeout_of(call, in.cluster->settings.timeouts);
    context.in_default_collection = in.is_default;
    std::vector<runtime::awaitable<result<T>>> reads;
    const std::size_t count = copies_to_ask(in);
    for (std::size_t copy = 0; copy != count; ++copy) {
        auto operation = make(static_cast<std::uint8_t>(copy), context);
        if (!operation)
            return std::move(operation).error();
        reads.push_back(shell::couchbase::execute<result<T>>(
            in.cluster->state, call_of(in, call, context.timeout), *std::move(operation)));
    }
    return std::make_shared<copy_reads<T>>(*in.cluster->world, std::move(reads));
}

}  // namespace holdfast::couchbase::details
