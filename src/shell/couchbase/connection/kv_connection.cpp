#include "shell/couchbase/connection/kv_connection.hpp"

#include "holdfast/couchbase/errc.hpp"
#include "shell/couchbase/connection/reader_turn.hpp"
#include "shell/planted.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/errc.hpp>

#include <cassert>
#include <cstring>
#include <utility>
#include <vector>

namespace holdfast::shell::couchbase {

using core::couchbase::kv_feature;
using holdfast::couchbase::errc;

std::shared_ptr<kv_connection> kv_connection::start(runtime::world& in, runtime::stream_ptr over,
                                                    core::couchbase::frame_reader reader,
                                                    kv_connection_options options)
{
    const std::shared_ptr<kv_connection> made{
        new kv_connection{in, std::move(over), std::move(reader), std::move(options)}};
    // Not a background task: those have a strand of their own, and no coroutine that waits on the
    // world's executor could be resumed inline.
    if (const runtime::executor on = in.executor(); on && !made->options_.exclusive)
        boost::asio::co_spawn(on, read(made), boost::asio::detached);
    return made;
}

kv_connection::kv_connection(runtime::world& in, runtime::stream_ptr over,
                             core::couchbase::frame_reader reader, kv_connection_options options)
    : keeps_world_{in.weak_from_this().lock()},
      world_{in},
      alarms_{in.shared_alarms()},
      options_{std::move(options)},
      stream_{std::move(over)},
      reader_{std::move(reader)},
      ended_{in},
      last_read_{in.steady_now()},
      table_{options_.in_flight},
      places_{std::make_unique<slot_place[]>(options_.in_flight.slots)}
{
    stream_->expires_at(runtime::never);
}

kv_connection::~kv_connection()
{
    alarms_->clear(*this);
}

error kv_connection::broken(std::string_view what) const
{
    return error{errc::decoding_failure, std::string{what}}.with_context("server",
                                                                         options_.server.value());
}

/// Gives a request the form that was negotiated; the error of one that has none there.
std::optional<error> kv_connection::adapt(core::couchbase::request_frame& what) const
{
    const core::couchbase::feature_set has = options_.features;
    what.may_compress = what.may_compress && has.has(kv_feature::snappy);
    if (!has.has(kv_feature::json))
        what.datatype = without(what.datatype, core::couchbase::kv_datatype::json);
    if (what.collection && !has.has(kv_feature::collections)) {
        if (*what.collection != core::couchbase::default_collection)
            return error{errc::feature_not_available, "the server has no collections"};
        what.collection.reset();
    }
    const bool durable = what.infos.durability != core::couchbase::kv_durability::none;
    const bool has_infos = has.has(kv_feature::alt_request) &&
                           (!durable || has.has(kv_feature::sync_replication));
    if (!what.infos.empty() && !has_infos)
        return error{errc::feature_not_available, durable
                                                      ? "the server has no synchronous durability"
                                                      : "the server takes no frame infos"};
    return std::nullopt;
}

kv_connection::enqueued kv_connection::enqueue(core::couchbase::request_frame& what,
                                               const request_facts& facts, kv_waiter& waiter)
{
    if (auto problem = adapt(what)) [[unlikely]]
        return {enqueue_result::invalid, 0, std::move(problem)};
    if (options_.exclusive)
        stream_->expires_at(facts.deadline);
    bool moves_alarm = false;
    std::uint32_t opaque = 0;
    {
        const std::scoped_lock lock{mutex_};
        if (end_reason_) [[unlikely]]
            return {enqueue_result::closed};
        if (out_.unsent() > options_.max_unsent) [[unlikely]]
            return {enqueue_result::not_writable};
        const auto slot = table_.next_slot();
        if (!slot) [[unlikely]]
            return {enqueue_result::no_slot};
        slot_place& place = places_[*slot];
        const auto taken = table_.take(
            {&place, what.opcode, facts.idempotent, facts.vbucket, facts.deadline});
        opaque = what.opaque = taken->opaque;
        auto begin = core::couchbase::write_request(out_.added, what);
        if (!begin) [[unlikely]] {
            table_.release(opaque);
            return {enqueue_result::invalid, 0, std::move(begin).error()};
        }
        place.begins = out_.base + *begin;
        out_.last = {opaque, place.begins};
        assert(!place.source.expected());
        waiter.expect(place.source, mutex_);
        moves_alarm = taken->is_due_first && !options_.exclusive;  // there the stream has the time
    }
    if (moves_alarm)
        set_alarm();
    return {enqueue_result::added, opaque, std::nullopt};
}

dispatch_phase kv_connection::let_go(std::uint32_t opaque, std::unique_ptr<given_up_request> kept)
{
    bool moves_alarm = false;
    {
        const std::scoped_lock lock{mutex_};
        if (end_reason_)
            return dispatch_phase::in_flight;
        const bool is_last = out_.last.opaque == opaque && out_.last.begins >= out_.base &&
                             out_.last.begins < out_.base + out_.added.size();
        if (is_last && table_.release(opaque)) {
            out_.added.truncate(out_.last.begins - out_.base);
            return dispatch_phase::not_sent;
        }
        const auto abandoned = table_.abandon(opaque, world_.steady_now());
        if (planted.reuses_opaques) {
            for (int code = 0; code != 256; ++code)
                (void)table_.complete(opaque, static_cast<core::couchbase::kv_opcode>(code));
        }
        moves_alarm = abandoned && abandoned->is_due_first && !options_.exclusive;
        if (table_.is_abandoned(opaque))
            places_[table_.slot_of(opaque)].given_up = std::move(kept);
    }
    if (moves_alarm)
        set_alarm();
    return dispatch_phase::in_flight;
}

runtime::awaitable<std::optional<runtime::wait_end>> kv_connection::wait_for_slot(time_point until)
{
    const auto self = shared_from_this();
    const auto freed = std::make_shared<runtime::event>(world_);
    {
        const std::scoped_lock lock{mutex_};
        if (table_.available() != 0 || end_reason_)
            co_return runtime::wait_end::notified;
        if (queue_.size() >= options_.max_queue)
            co_return std::nullopt;
        queue_.push_back(freed);
    }
    const runtime::wait_end end = co_await freed->wait(0, until);
    if (end == runtime::wait_end::notified)
        co_return end;
    const std::scoped_lock lock{mutex_};
    std::erase(queue_, freed);
    co_return end;
}

void kv_connection::wake_queue()
{
    std::vector<std::shared_ptr<runtime::event>> woken;
    {
        const std::scoped_lock lock{mutex_};
        for (std::size_t left = table_.available(); left != 0 && !queue_.empty(); --left) {
            woken.push_back(std::move(queue_.front()));
            queue_.pop_front();
        }
    }
    for (const auto& one : woken)
        one->notify();
}

void kv_connection::close(error why)
{
    std::deque<std::shared_ptr<runtime::event>> queued;
    {
        const std::scoped_lock lock{mutex_};
        if (end_reason_)
            return;
        end_reason_ = std::make_shared<const error>(
            std::move(why).with_context("server", options_.server.value()));
        is_closed_.store(true, std::memory_order_release);
        const runtime::executor nowhere;  // so that none is resumed inline
        table_.end([&](const auto& request) {
            kv_delivery nothing;
            nothing.closed = end_reason_;
            nothing.was_sent = request.waiter->begins < out_.leaving;
            (void)request.waiter->source.end(std::move(nothing), nowhere);
        });
        queued.swap(queue_);
    }
    stream_->cancel();
    alarms_->clear(*this);
    for (const auto& one : queued)
        one->notify();
}

std::shared_ptr<const error> kv_connection::end_reason() const
{
    const std::scoped_lock lock{mutex_};
    return end_reason_;
}

kv_connection::counts kv_connection::statistics() const
{
    const std::scoped_lock lock{mutex_};
    return {table_.counters(), table_.waiting(), table_.abandoned(), out_.written, out_.flushes};
}

bool is_silent(const kv_connection& what, time_point now, duration at_least)
{
    if (now - what.last_activity() < at_least)
        return false;
    const auto counts = what.statistics();
    return counts.waiting + counts.abandoned != 0;
}

void kv_connection::set_alarm()
{
    // Threads may come here at once, and the clock must not be asked under the mutex: the last one
    // to set the alarm sees what the others have changed.
    time_point set = runtime::never;
    for (bool first = true;; first = false) {
        time_point due = runtime::never;
        {
            const std::scoped_lock lock{mutex_};
            due = end_reason_ ? runtime::never : table_.due();
        }
        if (!first && due == set)
            return;
        alarms_->set(*this, due);
        set = due;
    }
}

/// The clock's mutex is held, so all that follows is left to the executor.
void kv_connection::ring() noexcept
{
    const runtime::executor on = world_.executor();
    if (!on)
        return;
    boost::asio::post(on, [weak = weak_from_this()] {
        if (const auto self = weak.lock())
            self->expire();
    });
}

void kv_connection::expire()
{
    bool is_stuck = false;
    {
        const std::scoped_lock lock{mutex_};
        if (end_reason_)
            return;
        const time_point now = world_.steady_now();
        table_.expire(now, [](const auto& request) {
            request.waiter->source.end(runtime::wait_end::timed_out);
        });
        is_stuck = table_.is_stuck(now);
    }
    if (is_stuck)
        close(error{make_error_code(boost::system::errc::timed_out),
                    "the server has stopped answering: too many requests are overdue"});
    else
        set_alarm();
}

kv_answer::kv_answer(kv_delivery from)
{
    if (from.owned.empty()) {
        const std::span<const std::uint8_t> bytes = from.frame.bytes;
        std::memcpy(bytes_.grow(bytes.size()), bytes.data(), bytes.size());
    } else {
        bytes_ = std::move(from.owned);
    }
    frame_ = {from.frame.header, bytes_.bytes()};
}

runtime::awaitable<result<kv_answer>> ask(std::shared_ptr<kv_connection> over,
                                          core::couchbase::request_frame what, time_point until)
{
    kv_waiter waiter;
    kv_connection::request_facts facts;
    facts.deadline = until;
    facts.idempotent = true;
    auto added = over->enqueue(what, facts, waiter);
    if (added.is == kv_connection::enqueue_result::invalid)
        co_return *std::move(added.problem);
    if (added.is != kv_connection::enqueue_result::added)
        co_return error{errc::request_canceled, "the connection takes no requests"};
    over->flush();
    const runtime::wait_end end = co_await waiter.wait();
    if (end != runtime::wait_end::notified) {
        over->let_go(added.opaque);
        const bool timed_out = end == runtime::wait_end::timed_out;
        co_return error{timed_out ? errc::unambiguous_timeout : errc::request_canceled,
                        timed_out ? "no reply in time" : "cancelled"};
    }
    kv_delivery got = waiter.take();
    if (got.closed)
        co_return error{*got.closed};
    co_return kv_answer{std::move(got)};
}

}  // namespace holdfast::shell::couchbase
