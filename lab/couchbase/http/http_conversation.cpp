#include "lab/couchbase/http/http_conversation.hpp"

#include "lab/couchbase/http/reply_text.hpp"

#include <chrono>
#include <utility>
#include <variant>

namespace holdfast::lab::couchbase {

namespace {

/// A connection without a request is closed after so long.
constexpr auto longest_idle = std::chrono::seconds{120};
/// A reply that is not there yet is asked for so often.
constexpr auto ask_interval = std::chrono::milliseconds{10};

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
    if (service_.frozen())
        return runtime::never;
    return held_ ? held_->until : again_at_;
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
    if (held_) {
        if (world_.steady_now() < held_->until)
            return need::time;
        reply_to(*std::exchange(held_, std::nullopt));
        return std::nullopt;
    }
    return later_ || more_ ? ask_again() : read_next();
}

std::optional<need> http_conversation::ask_again()
{
    seen_ = service_.news().count();
    again_at_ = runtime::never;
    const time_point now = world_.steady_now();
    if (later_) {
        auto reply = later_->ask();
        if (!reply) {
            again_at_ = now + ask_interval;
            return need::news;
        }
        const late_reply asked = *std::exchange(later_, std::nullopt);
        write_reply(*std::move(reply), asked.close, asked.fault);
        return std::nullopt;
    }
    const auto part = more_->next();
    if (part && part->empty()) {
        if (more_->pause.count() != 0)
            again_at_ = now + more_->pause;
        return need::news;
    }
    if (part) {
        add(chunks_text(*part, more_->chunk_size));
        return std::nullopt;
    }
    const bool cut = more_->cut && more_->cut();
    if (!cut)
        add(last_chunk);
    over_ = over_ || cut || (more_ && more_->close);
    more_.reset();
    return std::nullopt;
}

std::optional<need> http_conversation::read_next()
{
    const time_point now = world_.steady_now();
    next_request next = reader_.next();
    if (http_request* const request = std::get_if<http_request>(&next)) {
        idle_until_ = now + longest_idle;
        take(std::move(*request));
    } else if (const auto* const refused = std::get_if<refused_request>(&next)) {
        write_reply(refuse(refused->status, "this is no request that the server takes"), true, {});
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
    auto hit = service_.fault_for(request);
    held_request what{std::move(request), hit ? *std::move(hit) : http_fault{}, std::nullopt, {}};
    if (what.fault.answer)  // now, since several answers have their order
        what.scripted = what.fault.answer(what.request);
    if (what.fault.delay.count() == 0) {
        reply_to(std::move(what));
        return;
    }
    what.until = world_.steady_now() + what.fault.delay;
    held_.emplace(std::move(what));
}

void http_conversation::reply_to(held_request what)
{
    if (what.fault.close_connection) {
        over_ = true;
        return;
    }
    http_reply reply = what.scripted ? *std::move(what.scripted)
                                     : service_.answer_under(what.request, what.fault);
    if (reply.later)
        later_ = late_reply{std::move(reply.later), !what.request.keep_alive, what.fault};
    else
        write_reply(std::move(reply), !what.request.keep_alive, what.fault);
}

void http_conversation::write_reply(http_reply reply, bool close, const http_fault& hit)
{
    if (hit.silent)
        return;
    if (hit.chunk_size != 0)
        reply.chunk_size = hit.chunk_size;
    else if (reply.chunk_size == 0)
        reply.chunk_size = service_.chunk_size();
    cut_in_ = hit.cut_reply_at;
    over_ = close || reply.close;
    if (reply.more)
        more_ = stream_state{reply.more, reply.pause, reply.chunk_size, reply.cut,
                             close || reply.close};
    const bool goes_on = more_.has_value();
    add(reply_text(reply, over_));
    if (goes_on && more_)
        over_ = false;  // until one side has enough of it
}

/// What is to be sent next, or the part of it before the connection is cut.
void http_conversation::add(std::string_view text)
{
    out_.append(text.substr(0, cut_in_.value_or(text.size())));
    if (!cut_in_)
        return;
    if (text.size() <= *cut_in_) {
        *cut_in_ -= text.size();
        return;
    }
    more_.reset();
    over_ = true;
}

}  // namespace holdfast::lab::couchbase
