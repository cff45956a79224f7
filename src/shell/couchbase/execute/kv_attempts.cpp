#include "shell/couchbase/execute/kv_attempts.hpp"

#include "core/couchbase/retry/classify_kv.hpp"
#include "core/couchbase/retry/dispatch.hpp"
#include "core/couchbase/retry/idempotent.hpp"
#include "core/couchbase/wire/value.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "shell/couchbase/connection/late_reply.hpp"
#include "shell/couchbase/execute/kv_watch.hpp"
#include "shell/couchbase/execute/own_connection.hpp"
#include "shell/planted.hpp"

#include <string>
#include <utility>

namespace holdfast::shell::couchbase {

using core::couchbase::kv_status;
using core::couchbase::obstacle;
using core::couchbase::retry_reason;
using holdfast::couchbase::errc;

namespace {

/// What the status of a reply means to others than its request.
void react_to(kv_status status, std::string_view body, const kv_call& call, const kv_route& route)
{
    if (status == kv_status::not_my_vbucket) {
        call.bucket->vbucket_refused(body, route.link->server());
    } else if (status == kv_status::unknown_collection || status == kv_status::unknown_scope) {
        if (!planted.keeps_collection_ids)
            call.bucket->collection_outdated(*call.in, route.collection, body);
    } else if (status == kv_status::config_only) {
        call.bucket->want_config();
    } else if (status == kv_status::auth_stale) {
        // Routine: a new connection logs in anew.
        route.connection->close(error{errc::authentication_failure, "the login has expired"});
    }
    const core::couchbase::kv_error_map* const map = route.connection->error_map();
    if (core::couchbase::is_known(status) || map == nullptr)
        return;
    if (const auto* const entry = map->find(status)) {
        if (entry->fetch_config)
            call.bucket->want_config();
        if (entry->connection_invalidated)
            route.connection->close(error{errc::generic_failure, entry->description});
    }
}

}  // namespace

kv_attempts::~kv_attempts()
{
    if (in_flight_)
        let_go(observed::orphan_cause::cancelled);
    else if (look_up_id_ != 0)
        call_.bucket->forget_waiter(*call_.in, look_up_id_);
}

/// The reply, if there is one, has no receiver any more.
void kv_attempts::let_go(observed::orphan_cause because)
{
    waiter_.withdraw();
    phase_ = route_.connection->let_go(opaque_, kv_watch::given_up(*this, because));
    in_flight_ = false;
    // No thread is left to wait for the reply.
    if (route_.own && phase_ != dispatch_phase::not_sent)
        (*route_.own)->cancel();
}

/// Puts the request into the buffer of the connection that was found.
kv_attempts::begun kv_attempts::send(time_point now)
{
    const core::couchbase::kv_order& what = order();
    core::couchbase::request_frame frame;
    frame.opcode = what.opcode;
    frame.vbucket = route_.vbucket;
    frame.cas = what.cas;
    frame.datatype = what.datatype;
    frame.may_compress = what.may_compress;
    frame.infos = what.infos;
    frame.extras = what.extras.bytes();
    frame.collection = route_.collection;
    frame.key = what.key;
    frame.value = what.value.bytes();
    const bool has_waited = planted.ignores_deadline_after_wait && state_;
    kv_connection::request_facts facts;
    facts.deadline = has_waited ? runtime::never : call_.until.when();
    facts.idempotent = core::couchbase::is_idempotent(what.opcode);
    if (what.copy == 0)
        facts.vbucket = route_.vbucket;
    auto added = route_.connection->enqueue(frame, facts, waiter_);
    using enqueue_result = kv_connection::enqueue_result;
    if (added.is == enqueue_result::added) [[likely]] {
        opaque_ = added.opaque;
        in_flight_ = dispatched_ = true;
        phase_ = dispatch_phase::in_flight;
        if (cluster_->nodes->breaker()) [[unlikely]]
            route_.link->sent(now);
        if (call_.more) [[unlikely]]
            kv_watch::attempt_began(*this, now);
        return begun::yes;
    }
    if (added.is == enqueue_result::no_slot)
        return begun::no_slot;
    if (added.is == enqueue_result::invalid)
        problem_ = not_sendable(*std::move(added.problem));
    else
        problem_ = obstructed(added.is == enqueue_result::closed ? obstacle::all_sockets_down
                                                                 : obstacle::socket_not_writable);
    return begun::failed;
}

bool kv_attempts::begin_now()
{
    // The first attempt begins with its operation: no clock is read for it.
    const time_point now = dispatched_ || state_ ? cluster_->world.steady_now() : call_.began;
    started_ = now;
    phase_ = dispatch_phase::not_sent;
    if (!call_.bucket->find_now(order(), *call_.in, now, route_)) [[unlikely]]
        return false;
    if (needs_own(call_, route_) && !take_own(route_, route_.link->exclusive()->try_check_out(now)))
        return false;
    const bool sent = send(now) == begun::yes;
    if (!sent) [[unlikely]] {
        problem_.reset();  // attempt() finds it anew
        give_back{route_, now};
    }
    return sent;
}

kv_attempts::begun kv_attempts::try_begin()
{
    started_ = cluster_->world.steady_now();
    phase_ = dispatch_phase::not_sent;
    problem_.reset();
    if (auto over = closed_or_late(call_.until)) {
        problem_ = std::move(over);
        return begun::failed;
    }
    if (call_.in->problem) {
        problem_ = not_sendable(*call_.in->problem);
        return begun::failed;
    }
    if (look_up_id_ == 0)
        look_up_id_ = cluster_->requests.fetch_add(1) + 1;
    route_ = call_.bucket->find(order(), *call_.in, look_up_id_, started_);
    switch (route_.is) {
    case kv_route::kind::ready:
        return needs_own(call_, route_) ? begun::must_check_out : send(started_);
    case kv_route::kind::opening:
    case kv_route::kind::waits_for_look_up:
        break;
    case kv_route::kind::look_up:
        return begun::must_look_up;
    case kv_route::kind::obstructed:
        problem_ = obstructed(*route_.obstacle);
        return begun::failed;
    case kv_route::kind::no_copy:
        problem_ = not_sendable(error{errc::document_irretrievable, "no node has this copy"});
        return begun::failed;
    }
    // What will not mend itself is not waited for, unless the strategy wants to.
    const auto fact = cluster_->nodes->with_facts([&](const core::couchbase::health& facts) {
        return facts.terminal_fact(core::couchbase::service_type::key_value, call_.in->bucket);
    });
    if (!fact)
        return begun::waits;
    problem_ = obstructed(obstacle::all_sockets_down);
    return begun::failed;
}

error kv_attempts::obstructed(obstacle what)
{
    core::couchbase::request_target target;
    target.bucket = call_.in->bucket;
    target.scope = call_.in->scope;
    target.collection = call_.in->collection;
    const endpoint server = route_.link ? route_.link->server() : endpoint{};
    auto failed = cluster_->nodes->with_facts([&](const core::couchbase::health& facts) {
        return core::couchbase::dispatch_failed(what, target, facts, server, started_);
    });
    reason_ = failed.reason;
    phase_ = dispatch_phase::not_sent;
    // A reason that a connection has reported is known with all its details.
    const bool is_fact = failed.reason == retry_reason::authentication_error ||
                         failed.reason == retry_reason::tls_error ||
                         failed.reason == retry_reason::bucket_access_error ||
                         what == obstacle::all_sockets_down;
    if (!is_fact)
        return std::move(failed.cause);
    return error{failed.cause.code(), failed.cause.message() + ": " +
                                          call_.bucket->waiting_for(cluster_->world.steady_now())};
}

runtime::awaitable<result<kv_attempts::answer>> kv_attempts::attempt()
{
    for (;;) {
        const std::uint64_t seen = call_.bucket->changed().count();
        begun is_begun = try_begin();
        if (is_begun == begun::must_check_out) {
            auto over = co_await wait(is_begun, seen);
            if (over)
                co_return *std::move(over);
            is_begun = send(started_);
        }
        if (is_begun == begun::yes) {
            send_now();
            auto got = reply_now();
            if (!got) {
                const runtime::wait_end later = co_await reply();
                got = later;
            }
            co_return end(*got);
        }
        give_back{route_, started_};
        if (is_begun == begun::failed)
            co_return *std::exchange(problem_, std::nullopt);
        auto over = co_await wait(is_begun, seen);
        if (over)
            co_return *std::move(over);
    }
}

/// Inline, since an observed attempt ends in another function.
[[gnu::always_inline]] inline result<kv_attempts::answer> kv_attempts::end_of_attempt(
    runtime::wait_end end)
{
    if (end == runtime::wait_end::notified) [[likely]] {
        in_flight_ = false;
        const kv_delivery& got = waiter_.value();
        if (got.closed) [[unlikely]]
            return lost(got);
        return take_reply(got.frame);
    }
    out_of_time_ = end == runtime::wait_end::timed_out;
    let_go(out_of_time_ ? observed::orphan_cause::timed_out : observed::orphan_cause::cancelled);
    if (out_of_time_ && cluster_->nodes->breaker())
        route_.link->failed(cluster_->world.steady_now(), started_);
    return interrupted("while it was in flight");
}

result<kv_attempts::answer> kv_watch::attempt_ended(kv_attempts& of, runtime::wait_end end)
{
    if (!is_on(of))
        return of.end_of_attempt(end);
    attempt_outcome with;
    if (end == runtime::wait_end::notified && !of.waiter_.value().closed)
        with.server_duration = server_duration_of(of.waiter_.value().frame);
    const time_point now = of.cluster_->world.steady_now();
    auto outcome = of.end_of_attempt(end);
    with.phase = of.phase_;
    if (!outcome) {
        with.code = outcome.error().code();
        if (of.reason_)
            with.reason = name_of(*of.reason_);
    }
    of.call_.more->watch->attempt_ended(now, with);
    return outcome;
}

result<kv_attempts::answer> kv_attempts::end(runtime::wait_end end)
{
    const give_back after{route_, started_};
    if (call_.more) [[unlikely]]
        return kv_watch::attempt_ended(*this, end);
    return end_of_attempt(end);
}

result<kv_attempts::answer> kv_attempts::take_reply(const core::couchbase::frame& reply)
{
    phase_ = dispatch_phase::answered;
    const kv_status status = reply.status();
    if (!is_answer(status)) [[unlikely]]
        return refused(reply);
    core::couchbase::kv_reply what;
    what.status = status;
    what.datatype = reply.header.datatype;
    what.cas = reply.header.cas;
    what.extras = reply.extras();
    what.value = reply.value();
    what.vbucket = route_.vbucket;
    what.bucket = call_.in->bucket;
    if (has(what.datatype, core::couchbase::kv_datatype::snappy)) {
        auto plain = core::couchbase::decompress_value(what.value, inflated_);
        if (!plain) {
            reason_.reset();
            return std::move(plain).error();
        }
        what.value = *plain;
        what.datatype = without(what.datatype, core::couchbase::kv_datatype::snappy);
    }
    take(what);
    cluster_->budget.operation_succeeded();
    if (cluster_->nodes->breaker()) [[unlikely]]
        route_.link->succeeded(cluster_->world.steady_now(), started_);
    return answer{};
}

error kv_attempts::lost(const kv_delivery& why)
{
    phase_ = why.was_sent ? dispatch_phase::in_flight : dispatch_phase::not_sent;
    if (cluster_->nodes->breaker())
        route_.link->failed(cluster_->world.steady_now(), started_);
    auto failed = core::couchbase::connection_lost(route_.link->server(), started_,
                                                   why.closed->message());
    reason_ = why.was_sent ? retry_reason::socket_closed_while_in_flight
                           : retry_reason::socket_not_available;
    return std::move(failed.cause);
}

/// An answer that is none: whether it may be sent again is for the orchestrator to decide.
error kv_attempts::refused(const core::couchbase::frame& reply)
{
    const kv_status status = reply.status();
    auto meant = core::couchbase::classify_kv(order().opcode, status,
                                              route_.connection->error_map());
    reason_ = meant.reason;
    const std::string_view body = core::couchbase::as_text(reply.value());
    error why = meant.as_error();
    if (has(reply.header.datatype, core::couchbase::kv_datatype::json) && body.size() <= 1024 &&
        status != kv_status::not_my_vbucket)
        why = std::move(why).with_context("server_context", std::string{body});
    react_to(status, body, call_, route_);
    if (status == kv_status::auth_stale)
        reason_ = retry_reason::socket_not_available;
    if (cluster_->nodes->breaker()) {
        const time_point now = cluster_->world.steady_now();
        if (status == kv_status::temporary_failure && !planted.forgives_failures)
            route_.link->failed(now, started_);
        else
            route_.link->succeeded(now, started_);
    }
    return why;
}

}  // namespace holdfast::shell::couchbase
