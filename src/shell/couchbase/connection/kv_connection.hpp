#pragma once
#include "core/couchbase/inflight/inflight_table.hpp"
#include "core/couchbase/retry/kv_error_map.hpp"
#include "core/couchbase/wire/features.hpp"
#include "core/couchbase/wire/frame_reader.hpp"
#include "core/couchbase/wire/frame_writer.hpp"
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/error.hpp"
#include "holdfast/observer.hpp"
#include "runtime/handoff.hpp"
#include "runtime/short_mutex.hpp"
#include "runtime/world.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::shell::couchbase {

/// What becomes of a request: a reply, or the end of the connection before there was one.
struct kv_delivery {
    core::couchbase::frame frame = {};  // views of the reader's buffer, or of `owned`
    bson::byte_buffer owned = {};
    std::shared_ptr<const error> closed = {};  // not null: there is no frame
    bool was_sent = true;  // false: the connection ended before the first byte had left
};

using kv_waiter = runtime::handoff<kv_delivery>;

/// What is kept of a request that was given up, for the case that its reply comes.
struct given_up_request {
    std::uint64_t operation = 0;   // its number, for observers
    std::string_view name = {};    // a literal
    std::chrono::milliseconds timeout{};
    observed::orphan_cause cause = observed::orphan_cause::timed_out;
    time_point began{};
    time_point sent{};
};

struct kv_connection_options {
    endpoint server = {};
    std::string bucket = {};  // the selected one; empty: none
    /// For observers, which keep them; may be null.
    std::shared_ptr<const observed::connection> facts = {};
    core::couchbase::feature_set features = {};
    std::shared_ptr<const core::couchbase::kv_error_map> error_map = {};
    core::couchbase::inflight_limits in_flight = {};
    std::size_t max_unsent = std::size_t{4} << 20;
    std::size_t max_queue = 4'096;  // requests that wait for a slot
    /// One thread at a time has it, for one request at a time: see exclusive_connection.
    bool exclusive = false;
    /// Called by the reader, with no lock held.
    std::function<void(const core::couchbase::frame&)> on_server_request = {};
    std::function<void(const core::couchbase::frame& reply, const given_up_request& to)>
        on_late_reply = {};
    std::function<void()> on_end = {};  // the reader has ended
};

/// One key-value connection after its bootstrap, with many requests in flight. Any thread may add
/// requests; one coroutine reads, and hands each reply to the coroutine that waits for it, mostly
/// inline, so that what that one sends next goes out with what the others send: once per read.
class kv_connection final : public runtime::alarm,
                            public std::enable_shared_from_this<kv_connection> {
public:
    /// Begins to read. `reader` may have bytes already.
    static std::shared_ptr<kv_connection> start(runtime::world& in, runtime::stream_ptr over,
                                                core::couchbase::frame_reader reader,
                                                kv_connection_options options);
    ~kv_connection();

    enum class enqueue_result : std::uint8_t {
        added,
        closed,
        no_slot,       // wait for one: wait_for_slot()
        not_writable,  // too many bytes wait to be sent
        invalid,       // the request cannot be written; `problem` says why
    };
    struct enqueued {
        enqueue_result is = enqueue_result::closed;
        std::uint32_t opaque = 0;
        std::optional<error> problem = {};
    };
    struct request_facts {
        time_point deadline = runtime::never;
        bool idempotent = false;
        std::optional<std::uint16_t> vbucket = {};  // whose active node has to answer
    };
    /// Writes the request into the buffer, with an opaque of its own and in the form that was
    /// negotiated, which `what` has afterwards. From now on `waiter` waits for its reply; call
    /// flush() next.
    enqueued enqueue(core::couchbase::request_frame& what, const request_facts& facts,
                     kv_waiter& waiter);

    /// Sends what is in the buffer. In a reader's turn, of whichever connection, this is left to
    /// the end of the turn: then one send is for many requests.
    void flush();

    /// For a waiter that has gone without a reply. `not_sent`: its request was taken back, and no
    /// byte of it has left or will leave. `kept` is what on_late_reply gets, should the reply come.
    dispatch_phase let_go(std::uint32_t opaque, std::unique_ptr<given_up_request> kept = {});

    /// Waits until a slot has become free, for the next try. False: too many wait already.
    runtime::awaitable<std::optional<runtime::wait_end>> wait_for_slot(time_point until);

    /// Ends the connection: all that wait get this error. The first call counts.
    void close(error why);

    bool is_closed() const noexcept { return is_closed_.load(std::memory_order_acquire); }
    /// Null as long as it is open.
    std::shared_ptr<const error> end_reason() const;
    bool has_ended() const noexcept { return ended_.count() != 0; }
    /// Waits until the reader has ended.
    runtime::awaitable<runtime::wait_end> ended(time_point until) { return ended_.wait(0, until); }

    const endpoint& server() const noexcept { return options_.server; }
    const std::string& bucket() const noexcept { return options_.bucket; }
    const std::shared_ptr<const observed::connection>& facts() const noexcept
    {
        return options_.facts;
    }
    core::couchbase::feature_set features() const noexcept { return options_.features; }
    const core::couchbase::kv_error_map* error_map() const noexcept
    {
        return options_.error_map.get();
    }

    struct counts {
        core::couchbase::inflight_counters requests = {};
        std::size_t waiting = 0;
        std::size_t abandoned = 0;
        std::uint64_t written = 0;  // bytes
        std::uint64_t flushes = 0;  // writes to the stream
    };
    counts statistics() const;
    /// When the server has last sent something.
    time_point last_activity() const noexcept { return last_read_.load(std::memory_order_relaxed); }

private:
    /// Of one slot: the source of its waiter, and where its frame begins in all that is ever sent.
    struct slot_place {
        runtime::handoff_source<kv_delivery> source;
        std::uint64_t begins = 0;
        std::unique_ptr<given_up_request> given_up = {};  // set only while it is abandoned
    };
    /// What is to be sent.
    struct outbox {
        struct last_frame {
            std::uint32_t opaque = 0;
            std::uint64_t begins = 0;
        };
        bson::byte_buffer added = {};
        bson::byte_buffer sending = {};  // belongs to the code that has set `flushing`
        std::size_t sent = 0;  // of `sending`
        std::uint64_t base = 0;  // bytes that were ever in here before `added`
        std::uint64_t written = 0;  // bytes that have left
        /// And those of which that is not known: a write of them is under way on some thread, or
        /// the stream keeps them.
        std::uint64_t leaving = 0;
        std::uint64_t flushes = 0;  // writes
        last_frame last = {};
        bool flushing = false;

        std::size_t unsent() const noexcept { return added.size() + sending.size() - sent; }
    };
    enum class write_end : std::uint8_t { done, blocked, failed };

    kv_connection(runtime::world& in, runtime::stream_ptr over,
                  core::couchbase::frame_reader reader, kv_connection_options options);

    static runtime::awaitable<void> read(std::shared_ptr<kv_connection> self);
    static runtime::awaitable<void> write_rest(std::shared_ptr<kv_connection> self);
    friend class reader_turn;
    friend class exclusive_connection;
    friend class late_requests;

    std::optional<error> adapt(core::couchbase::request_frame& what) const;
    bool take_frames(const runtime::executor& here);
    std::optional<error> take(const core::couchbase::frame& one, const runtime::executor& here);
    std::optional<error> take_reply(const core::couchbase::frame& one,
                                    const runtime::executor& here);
    void take_server_request(const core::couchbase::frame& one);
    void flush_now();
    write_end write_some();
    void wake_queue();
    void set_alarm();
    void expire();
    void ring() noexcept override;
    error broken(std::string_view what) const;

    const std::shared_ptr<runtime::world> keeps_world_;  // null if the world is not shared
    runtime::world& world_;
    const std::shared_ptr<runtime::alarm_clock> alarms_;
    const kv_connection_options options_;
    const runtime::stream_ptr stream_;
    core::couchbase::frame_reader reader_;  // the reader's own
    runtime::event ended_;
    std::atomic<bool> is_closed_{false};
    std::atomic<time_point> last_read_;

    mutable runtime::short_mutex mutex_;
    core::couchbase::inflight_table<slot_place> table_;
    std::unique_ptr<slot_place[]> places_;
    outbox out_;
    std::shared_ptr<const error> end_reason_;
    std::deque<std::shared_ptr<runtime::event>> queue_;
    bool freed_wanted_slot_ = false;  // the reader's own: of the last reply
};

/// Why a connection is at its end: reading or writing has failed.
error stream_failure(const error_code& why, std::string_view what);

/// Whether requests are without a reply, and nothing has come for so long. Also right after the
/// first request that follows a quiet time.
bool is_silent(const kv_connection& what, time_point now, duration at_least);

/// A reply that outlives the reader's turn.
class kv_answer {
public:
    explicit kv_answer(kv_delivery from);

    const core::couchbase::frame& frame() const noexcept { return frame_; }

private:
    bson::byte_buffer bytes_;
    core::couchbase::frame frame_;
};

/// Sends one request of the library's own, and waits for its reply. What the request refers to
/// must live until then.
runtime::awaitable<result<kv_answer>> ask(std::shared_ptr<kv_connection> over,
                                          core::couchbase::request_frame what, time_point until);

}  // namespace holdfast::shell::couchbase
