#include "lab/couchbase/replica/link.hpp"

#include "core/couchbase/wire/frame_writer.hpp"
#include "lab/couchbase/kv/sync_writes.hpp"

#include <algorithm>
#include <variant>

namespace holdfast::lab::couchbase {

namespace {

using core::couchbase::frame;
using std::chrono::milliseconds;

constexpr milliseconds connect_timeout{2000};
constexpr milliseconds write_timeout{10'000};
constexpr milliseconds pause_after_failure{50};
constexpr milliseconds pause_after_refusal{20};
/// What is sent before acknowledgements are looked at.
constexpr std::size_t full_buffer = 1024 * 1024;

bool has(const std::vector<int>& nodes, std::size_t first, int one)
{
    return nodes.size() > first && std::find(nodes.begin() + static_cast<std::ptrdiff_t>(first),
                                             nodes.end(), one) != nodes.end();
}

}  // namespace

void link::mark(const std::string& bucket, std::uint16_t id)
{
    const place at{bucket, id};
    if (!find_source(at) && !streams_.contains(at))
        return;
    dirty_.insert(at);
    refused_.erase(at);
    wake();
}

void link::mark_all()
{
    for (const auto& [name, in] : node_.buckets) {
        for (const auto& [id, at] : in.vbuckets)
            mark(name, id);
    }
}

void link::wake()
{
    news_.notify();
    if (reading_)
        stream_->expires_at(node_.world.steady_now());
}

void link::stop()
{
    stopped_ = true;
    if (stream_)
        stream_->cancel();
    news_.notify();
}

runtime::awaitable<void> link::run(std::shared_ptr<link> self)
{
    link& on = *self;
    while (!on.stopped_) {
        const std::uint64_t seen = on.news_.count();
        if (on.dirty_.empty() || on.paused()) {
            const auto end = co_await on.news_.wait(seen);
            if (end == runtime::wait_end::cancelled)
                break;
            continue;
        }
        auto connected = co_await on.connect();
        if (connected) {
            on.stream_ = *std::move(connected);
            co_await on.exchange();
            on.stream_.reset();
        }
        on.forget();
        if (on.stopped_)
            break;
        const auto end = co_await runtime::sleep_until(on.node_.world, on.node_.world.steady_now() +
                                                                           pause_after_failure);
        if (end == runtime::wait_end::cancelled)
            break;
    }
}

runtime::awaitable<result<runtime::stream_ptr>> link::connect()
{
    const auto where = node_.peers.find(to_);
    if (where == node_.peers.end())
        co_return error{runtime::errc::not_available, "the node is not known"};
    const time_point until = node_.world.steady_now() + connect_timeout;
    auto connected = co_await node_.world.connect(where->second, until);
    co_return std::move(connected);
}

runtime::awaitable<void> link::exchange()
{
    core::couchbase::request_frame hello;
    const std::string name = peer_hello(node_.id, node_.cluster_key);
    hello.opcode = kv_opcode::hello;
    hello.key = name;
    reader_ = core::couchbase::frame_reader{};
    out_.clear();
    (void)core::couchbase::write_request(out_, hello);
    while (!stopped_) {
        if (!paused())
            fill();
        if (out_.size() != 0) {
            stream_->expires_at(node_.world.steady_now() + write_timeout);
            const error_code unsent = co_await runtime::write_all(*stream_, out_.bytes());
            if (unsent)
                break;
            out_.clear();
        }
        if (!dirty_.empty() && !paused())
            continue;
        time_point until = runtime::never;
        for (const auto& [at, when] : refused_)
            until = std::min(until, when);
        stream_->expires_at(until);
        reading_ = true;
        const runtime::io_result got = co_await stream_->read_some(reader_.writable());
        reading_ = false;
        reader_.received(got.bytes);
        if (got.why && got.why != boost::system::errc::timed_out)
            break;
        while (node_.frozen && !stopped_) {
            const std::uint64_t seen = news_.count();
            (void)co_await news_.wait(seen);
        }
        if (!take_messages())
            break;
    }
}

void link::forget()
{
    for (const auto& [at, state] : streams_) {
        if (bucket* const in = node_.find_bucket(at.first))
            in->acks[at.second].erase(to_);
        dirty_.insert(at);
    }
    for (const auto& [at, when] : refused_)
        dirty_.insert(at);
    streams_.clear();
    refused_.clear();
    numbers_.clear();
    names_.clear();
    announced_.clear();
}

bool link::take_messages()
{
    for (;;) {
        const auto next = reader_.next();
        if (!next)
            return false;
        const frame* const one = std::get_if<frame>(&*next);
        if (!one)
            return true;
        if (!take(*one))
            return false;
    }
}

bool link::take(const frame& from)
{
    if (core::couchbase::is_response(from.header.magic))
        return from.status() == core::couchbase::kv_status::success;  // to the hello
    const auto name = names_.find(from.header.opaque);
    if (name == names_.end())
        return true;
    const place at{name->second, from.vbucket()};
    const kv_opcode what = from.header.opcode;
    if (what == peer_refuse) {
        announced_.erase(at.first);
        streams_.erase(at);
        refused_[at] = node_.world.steady_now() + pause_after_refusal;
        if (bucket* const in = node_.find_bucket(at.first))
            in->acks[at.second].erase(to_);
        return true;
    }
    if (what == peer_copy_state) {
        const auto theirs = read_copy_state(from);
        if (theirs)
            begin(at, *theirs);
        return theirs.has_value();
    }
    const auto numbers = what == peer_ack ? read_peer_numbers(from) : std::nullopt;
    if (!numbers)
        return false;
    bucket* const in = node_.find_bucket(at.first);
    if (in && streams_.contains(at) && find_source(at))
        acknowledge(node_, *in, at.second, to_, {numbers->seqno, numbers->persisted});
    return true;
}

void link::begin(const place& at, const copy_state& theirs)
{
    const auto found = streams_.find(at);
    const vbucket* const from = find_source(at);
    if (found == streams_.end() || !from)
        return;
    stream_state& to = found->second;
    const auto shared = from->shared_until(theirs.uuid);
    const bool anew = theirs.high != 0 && (!shared || theirs.high > *shared);
    to.now = phase::streaming;
    to.sent = anew ? 0 : theirs.consistent;
    to.ended = false;
    write_peer_begin(out_, {number_of(at.first), at.second}, anew, from->failover_log());
    dirty_.insert(at);
}

const vbucket* link::find_source(const place& at)
{
    bucket* const in = node_.find_bucket(at.first);
    const vbucket* const from = in ? in->find(at.second) : nullptr;
    if (!from || from->chain().empty())
        return nullptr;
    // A vbucket that is handed over goes on sending, though it takes no more changes.
    const auto state = from->current_state();
    const bool sends = state == vbucket::state::active || state == vbucket::state::dead;
    const bool wanted = has(from->chain(), 1, to_) || has(from->joining(), 0, to_);
    return sends && wanted && from->chain().front() == node_.id ? from : nullptr;
}

std::uint32_t link::number_of(const std::string& bucket)
{
    const auto [at, made] = numbers_.try_emplace(bucket,
                                                 static_cast<std::uint32_t>(numbers_.size() + 1));
    if (made)
        names_.emplace(at->second, bucket);
    return at->second;
}

void link::fill()
{
    const time_point now = node_.world.steady_now();
    for (auto at = refused_.begin(); at != refused_.end();) {
        if (at->second <= now) {
            dirty_.insert(at->first);
            at = refused_.erase(at);
        } else {
            ++at;
        }
    }
    while (!dirty_.empty() && out_.size() < full_buffer) {
        const place at = *dirty_.begin();
        dirty_.erase(dirty_.begin());
        fill_one(at);
    }
}

void link::fill_one(const place& at)
{
    const vbucket* const from = find_source(at);
    if (!from) {
        streams_.erase(at);
        if (bucket* const in = node_.find_bucket(at.first))
            in->acks[at.second].erase(to_);
        return;
    }
    stream_state& to = streams_[at];
    if (to.history != from->uuid())  // flushed, or of a bucket that was made anew
        to = {phase::idle, from->uuid(), 0, false};
    if (to.now == phase::streaming) {
        send_changes(at, to, *from);
        return;
    }
    if (to.now == phase::asked)
        return;
    const std::uint32_t number = number_of(at.first);
    const std::string& uuid = node_.find_bucket(at.first)->layout.uuid;
    if (announced_[at.first] != uuid) {
        announced_[at.first] = uuid;
        write_peer_bucket(out_, number, at.first, uuid);
    }
    write_peer_plain(out_, peer_ask_copy, {number, at.second});
    to.now = phase::asked;
}

void link::send_changes(const place& at, stream_state& to, const vbucket& from)
{
    const peer_place where{number_of(at.first), at.second};
    const change_batch batch = from.changes_after(to.sent, full_buffer);
    for (const change& one : batch.changes) {
        write_change(out_, where, one);
        to.sent = one.content.seqno;
        to.ended = false;
    }
    if (!batch.complete) {
        dirty_.insert(at);
        return;
    }
    if (to.ended && to.sent == from.high_seqno())
        return;
    to.sent = from.high_seqno();
    to.ended = true;
    write_peer_numbers(out_, peer_snapshot_end, where, {to.sent, 0});
}

}  // namespace holdfast::lab::couchbase
