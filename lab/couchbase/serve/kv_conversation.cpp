#include "lab/couchbase/serve/kv_conversation.hpp"

#include "core/couchbase/wire/leb128.hpp"
#include "core/couchbase/wire/value.hpp"
#include "lab/couchbase/replica/consumer.hpp"
#include "lab/couchbase/replica/peer_frames.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

namespace holdfast::lab::couchbase {

using core::couchbase::frame;
using core::couchbase::kv_magic;

namespace {

/// Replies are sent when there are so many of them, although more requests are there.
constexpr std::size_t full_buffer = 64 * 1024;
/// What a connection keeps for its next requests.
constexpr std::size_t usual_memory = 1024 * 1024;
/// With more of them the connection has to wait.
constexpr std::size_t most_parked = 4096;
/// No client counts so far.
constexpr std::uint32_t unknown_opaque_bit = 0x80000000;

const kv_fault no_fault{};

}  // namespace

kv_conversation::kv_conversation(node& with, bool secure)
    : node_{with}, number_{++with.sessions_so_far}, disk_news_seen_{with.disk_news}
{
    client_.secure = secure;
    if (secure)
        client_.user = with.options.certificate_user;
    node_.sessions.emplace(number_, this);
}

kv_conversation::~kv_conversation()
{
    leave_node();
}

void kv_conversation::closed()
{
    leave_node();
}

void kv_conversation::leave_node()
{
    if (number_ == 0)
        return;
    node_.sessions.erase(std::exchange(number_, 0));
    for (const parked_reply& one : parked_) {
        if (one.reply.waits_for)
            one.reply.waits_for->wake = nullptr;
    }
}

void kv_conversation::announce_configuration()
{
    announces_ = true;
    wake();
}

void kv_conversation::wake()
{
    if (waker_)
        waker_();
}

void kv_conversation::close()
{
    over_ = true;
    wake();
}

runtime::awaitable<result<void>> kv_conversation::answer_later()
{
    co_return result<void>{};
}

time_point kv_conversation::wake_at() const noexcept
{
    return node_.frozen ? runtime::never : held_ ? held_->until : read_until();
}

time_point kv_conversation::read_until() const noexcept
{
    time_point next = runtime::never;
    for (const parked_reply& one : parked_) {
        const bool waits = one.reply.waits_for && !one.reply.waits_for->outcome;
        if (!waits && one.overtaken_by == 0)
            next = std::min(next, one.not_before);
    }
    return next;
}

bool kv_conversation::parked_reply::ready(time_point now) const noexcept
{
    return (!reply.waits_for || reply.waits_for->outcome) && not_before <= now && overtaken_by == 0;
}

/// Without unordered execution nothing overtakes a request that waits.
bool kv_conversation::takes_requests() const noexcept
{
    if (over_ || held_ || stopped_reading_ || parked_.size() >= most_parked)
        return false;
    return client_.has(kv_feature::unordered_execution) ||
           std::ranges::none_of(
               parked_, [](const parked_reply& one) { return one.reply.waits_for != nullptr; });
}

need kv_conversation::advance(runtime::stream& to)
{
    need blocked = need::nothing;
    for (;;) {
        if (node_.frozen && !over_)
            return need::time;
        bool waits = false;
        over_ = over_ || !release_parked();
        if (std::exchange(announces_, false) && !client_.peer)
            write_notifications(node_, client_, out_, ++notifications_);
        if (client_.peer && std::exchange(disk_news_seen_, node_.disk_news) != node_.disk_news)
            acknowledge_again(node_, client_, out_);
        while (!waits && takes_requests() && out_.size() < full_buffer) {
            auto next = reader_.next();
            if (!next)
                over_ = true;
            else if (const frame* const one = std::get_if<frame>(&*next))
                over_ = !take(*one);
            else
                waits = true;
        }
        if (!send(to, blocked))
            return blocked;
        if (over_)
            return need::nothing;
        const time_point now = node_.world.steady_now();
        if (held_) {
            if (now < held_->until)
                return need::time;
            over_ = !release_held();
        } else if (read_until() <= now) {
            continue;
        } else if (waits) {
            give_back_memory();
            return need::bytes;
        } else if (!takes_requests()) {
            return need::time;
        }
    }
}

bool kv_conversation::send(runtime::stream& to, need& blocked)
{
    while (sent_ < out_.size()) {
        const runtime::io_result gone = to.write_now(out_.bytes().subspan(sent_));
        sent_ += gone.bytes;
        if (gone.why) {
            const bool later = gone.why == boost::system::errc::operation_would_block;
            blocked = later ? need::writable : need::nothing;
            return false;
        }
    }
    sent_ = 0;
    out_.clear();
    return true;
}

void kv_conversation::give_back_memory()
{
    if (out_.capacity() > usual_memory)
        out_ = {};
    if (unpacked_.capacity() > usual_memory)
        unpacked_ = {};
    if (reader_.pending() == 0)
        reader_.shrink();
}

bool kv_conversation::take(const frame& from)
{
    const kv_magic magic = from.header.magic;
    if (magic == kv_magic::server_response)
        return true;
    if (magic != kv_magic::client_request && magic != kv_magic::alt_client_request)
        return false;
    if (client_.peer && core::couchbase::is_dcp(from.header.opcode))
        return take_peer_message(node_, client_, from, out_);
    const time_point arrived = node_.world.steady_now();
    const auto hit = fault_for(from);
    if (!hit)
        return carry_out(from, nullptr, arrived);
    if (hit->stop_reading) {
        stopped_reading_ = true;
        return true;
    }
    const time_point until = held_until(*hit, arrived);
    if (until <= arrived)
        return carry_out(from, &*hit, arrived);
    held_ = held_request{from, *hit, arrived, until};
    return true;
}

time_point kv_conversation::held_until(const kv_fault& by, time_point now)
{
    if (by.delay_up_to <= by.delay)
        return now + by.delay;
    const auto span = std::chrono::duration<double, std::milli>(by.delay_up_to - by.delay) *
                      node_.world.chance();
    return now + by.delay + std::chrono::duration_cast<duration>(span);
}

bool kv_conversation::release_held()
{
    const held_request held = *std::exchange(held_, std::nullopt);
    return carry_out(held.frame, &held.fault, held.arrived);
}

std::optional<kv_fault> kv_conversation::fault_for(const frame& from)
{
    if (!node_.faults.any())
        return std::nullopt;
    const auto key = from.key();
    kv_target target{from.header.opcode,
                     client_.bucket,
                     core::couchbase::as_text(key),
                     number_,
                     core::couchbase::as_text(key),
                     from.value()};
    if (client_.has(kv_feature::collections)) {
        if (const auto split = core::couchbase::split_collection_key(key))
            target.document = core::couchbase::as_text(split->key);
    }
    return node_.faults.on_any(target, node_.world.chance());
}

bool kv_conversation::carry_out(const frame& from, const kv_fault* hit, time_point arrived)
{
    if (hit && hit->close_connection)
        return false;
    kv_reply reply;
    if (hit && hit->error_code) {
        reply.fail(kv_status{static_cast<std::uint16_t>(*hit->error_code)});
        reply.value = hit->body;
        reply.json = hit->body.starts_with('{');
    } else {
        reply = answer_frame(from);
    }
    if (hit && hit->value)
        reply.value = *hit->value;
    const reply_address to{from.header.opcode, from.header.opaque, arrived};
    const bool waits = reply.waits_for && !reply.waits_for->outcome;
    const bool later = hit && (hit->reply_delay.count() != 0 || hit->overtaken_by != 0);
    if (!waits && !later)
        return deliver(to, reply, hit ? *hit : no_fault);
    if (reply.waits_for)
        reply.waits_for->wake = [this] { wake(); };
    const kv_fault& by = hit ? *hit : no_fault;
    parked_.push_back({to, std::move(reply), by, arrived + by.reply_delay, by.overtaken_by});
    return true;
}

bool kv_conversation::release_parked()
{
    const time_point now = node_.world.steady_now();
    for (auto at = parked_.begin(); at != parked_.end();) {
        if (!at->ready(now)) {
            ++at;
            continue;
        }
        const parked_reply one = std::move(*at);
        parked_.erase(at);
        if (!deliver(one.to, one.reply, one.fault))
            return false;
        at = parked_.begin();  // others may be ready now
    }
    return true;
}

bool kv_conversation::deliver(const reply_address& to, const kv_reply& given, const kv_fault& by)
{
    if (by.silent)
        return true;
    kv_reply reply = given;
    if (reply.waits_for)
        finish_durable(client_, reply);
    reply_address address = to;
    if (by.foreign_opaque)
        address.opaque ^= unknown_opaque_bit;
    const time_point now = node_.world.steady_now();
    const std::size_t begin = out_.size();
    for (int n = 0; n < std::max(by.replies, 1); ++n)
        write_reply(out_, client_, address, reply, now);
    if (by.damage != frame_damage::none)
        damage_frame(out_, begin, by.damage);
    for (parked_reply& one : parked_)
        one.overtaken_by -= one.overtaken_by == 0 ? 0 : 1;
    if (by.cut_reply_at && begin + *by.cut_reply_at < out_.size()) {
        out_.truncate(begin + *by.cut_reply_at);
        return false;
    }
    return !reply.close_after;
}

kv_reply kv_conversation::answer_frame(const frame& from)
{
    const auto infos = core::couchbase::parse_request_infos(from.framing());
    kv_reply refused;
    if (infos.status != kv_status::success) {
        refused.fail(infos.status);
        return refused;
    }
    kv_request what{from, client_, infos.infos, core::couchbase::as_text(from.value())};
    if (core::couchbase::has(from.header.datatype, kv_datatype::snappy) &&
        client_.has(kv_feature::snappy)) {
        unpacked_.clear();
        const auto plain = core::couchbase::decompress_value(from.value(), unpacked_);
        if (!plain) {
            refused.fail(kv_status::invalid, "the value is not compressed by snappy");
            return refused;
        }
        what.value = core::couchbase::as_text(*plain);
        what.compressed = true;
    }
    kv_reply reply = answer(node_, what);
    if (from.header.opcode == kv_opcode::hello)
        client_.peer = read_peer_hello(client_.agent, node_.cluster_key);
    return reply;
}

}  // namespace holdfast::lab::couchbase
