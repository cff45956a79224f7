#include "lab/couchbase/http/http_conversation.hpp"

#include "lab/couchbase/http/reply_text.hpp"

#include <chrono>
#include <utility>
#include <variant>

namespace holdfast::lab::couchbase {

namespace {

/// A connection without a request is closed after so long.
constexpr auto longest_idle = std::chrono::seconds{120};

}  // namespace

http_conversation::http_conversation(runtime::world& in, http_service& with)
    : world_{in}, service_{with}, idle_until_{in.steady_now() + longest_idle}
{
}

runtime::awaitable<result<void>> http_conversation::answer_later()
{
    co_return result<void>{};
}

time_point http_conversation::wake_at() const noexcept
{
    return held_ && !service_.frozen() ? held_->until : runtime::never;
}

need http_conversation::advance(runtime::stream& to)
{
    need blocked = need::nothing;
    for (;;) {
        if (service_.frozen() && !over_)
            return need::time;
        if (!send(to, blocked))
            return blocked;
        if (over_)
            return need::nothing;
        if (const auto wait = go_on())
            return *wait;
    }
}

std::optional<need> http_conversation::go_on()
{
    const time_point now = world_.steady_now();
    if (held_) {
        if (now < held_->until)
            return need::time;
        const held_request held = *std::exchange(held_, std::nullopt);
        reply_to(held.request, &held.fault);
        return std::nullopt;
    }
    if (more_) {
        seen_ = service_.news().count();
        const auto part = more_();
        if (part && part->empty())
            return need::news;
        out_ += part ? chunk_text(*part) : std::string{last_chunk};
        if (!part)
            more_ = nullptr;
        return std::nullopt;
    }
    next_request next = reader_.next();
    if (http_request* const request = std::get_if<http_request>(&next)) {
        idle_until_ = now + longest_idle;
        take(std::move(*request));
    } else if (const auto* const refused = std::get_if<refused_request>(&next)) {
        write_reply(refuse(refused->status, "this is no request that the server takes"), true,
                    nullptr);
    } else if (now >= idle_until_) {
        over_ = true;
    } else {
        return need::bytes;
    }
    return std::nullopt;
}

bool http_conversation::send(runtime::stream& to, need& blocked)
{
    while (sent_ < out_.size()) {
        const std::span<const char> rest = std::span{out_}.subspan(sent_);
        const runtime::io_result gone = to.write_now(
            {reinterpret_cast<const std::uint8_t*>(rest.data()), rest.size()});
        sent_ += gone.bytes;
        if (gone.why) {
            const bool later = gone.why == boost::system::errc::operation_would_block;
            blocked = later ? need::writable : need::nothing;
            return false;
        }
    }
    sent_ = 0;
    out_ = {};
    return true;
}

void http_conversation::take(http_request request)
{
    const auto hit = service_.fault_for(request);
    if (hit && hit->delay.count() != 0)
        held_ = held_request{std::move(request), *hit, world_.steady_now() + hit->delay};
    else
        reply_to(request, hit ? &*hit : nullptr);
}

void http_conversation::reply_to(const http_request& request, const http_fault* hit)
{
    if (hit && hit->close_connection) {
        over_ = true;
        return;
    }
    http_reply reply;
    if (hit && hit->error_code) {
        reply.status = *hit->error_code;
        reply.body = hit->body;
    } else {
        reply = service_.answer(request);
    }
    if (!hit || !hit->silent)
        write_reply(std::move(reply), !request.keep_alive, hit);
}

void http_conversation::write_reply(http_reply reply, bool close, const http_fault* hit)
{
    over_ = close || reply.close;
    more_ = std::move(reply.more);
    reply.more = more_;
    out_ = reply_text(reply, over_, service_.chunk_size());
    if (hit && hit->cut_reply_at && *hit->cut_reply_at < out_.size()) {
        out_.resize(*hit->cut_reply_at);
        over_ = true;
    }
    if (more_)
        over_ = false;  // it goes on until one side has enough of it
}

}  // namespace holdfast::lab::couchbase
