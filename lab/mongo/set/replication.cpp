#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/set/set_member.hpp"
#include "lab/mongo/set/message_fields.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::lab::mongo {

using namespace std::chrono_literals;
using runtime::awaitable;
using runtime::wait_end;

namespace {

constexpr std::int32_t tail_wait_ms = 5000;
constexpr duration pause_after_failure = 50ms;

bson::document find_oplog(bson::timestamp from)
{
    return document_of([&](bson::builder& out) {
        out.add("find", "oplog.rs");
        {
            bson::builder filter = out.document("filter");
            bson::builder ts = filter.document("ts");
            ts.add("$gte", from);
        }
        out.add("tailable", true).add("awaitData", true).add("noCursorTimeout", true);
        {
            bson::builder preference = out.document("$readPreference");
            preference.add("mode", "secondaryPreferred");
        }
        out.add("$db", "local");
    });
}

bson::document more_of(std::int64_t cursor)
{
    return document_of([&](bson::builder& out) {
        out.add("getMore", cursor)
            .add("collection", "oplog.rs")
            .add("maxTimeMS", tail_wait_ms)
            .add("$db", "local");
    });
}

error answer_of(bson::view reply)
{
    return refuse(static_cast<int>(number_or(reply.find("code"), 8)),
                  std::string{text_or(reply.find("errmsg"), "no answer of a cursor")});
}

bson::array_view batch_of(bson::view reply, std::string_view name)
{
    const bson::element batch = reply.find_path("cursor." + std::string{name});
    return batch.type() == bson::type::array ? batch.as_array() : bson::array_view{};
}

optime time_of(bson::view entry)
{
    const bson::element ts = entry.find("ts");
    if (ts.type() != bson::type::timestamp)
        return {};
    return {number_or(entry.find("t"), -1), ts.as_timestamp()};
}

}  // namespace

/// The primary, whoever that is. While there is none, somebody who has more than we have: he might
/// be one who may not stand, and nobody else could win without what he has.
std::int32_t set_member::pick_source() const
{
    if (primary_id_ >= 0)
        return primary_id_;
    std::int32_t best = -1;
    optime most = last();
    for (const auto& [id, with] : links_) {
        if (!with->up || with->state != member_state::secondary || with->applied <= most)
            continue;
        most = with->applied;
        best = id;
    }
    return best;
}

/// When the source has stepped down we go on with it until there is another primary: what it still
/// has to give is what the next one needs.
awaitable<void> set_member::tail()
{
    while (!stopping_) {
        const std::uint64_t seen = wake_.count();
        const member_config* const from = config_.by_id(pick_source());
        const member_config* const own = self();
        const bool wanted = from && own && own->has_data() && from != own && !paused_;
        if (!wanted) {
            const wait_end end = co_await wake_.wait(seen);
            if (end == wait_end::cancelled)
                co_return;
            continue;
        }
        const std::int32_t id = from->id;
        co_await follow(id, from->host);
        source_id_ = -1;
        source_host_.clear();
        applied_.notify();
        if (link* const with = find_link(id); with && !stopping_) {
            with->sent = time_point::min();  // is it still there?
            wake_.notify();
        }
        co_await runtime::sleep_until(node_.world, node_.now() + pause_after_failure);
    }
}

awaitable<void> set_member::follow(std::int32_t id, std::string host)
{
    auto line = co_await connect_to(host, node_.now() + config_.election_timeout);
    if (!line || stopping_)
        co_return;
    tail_line_ = line->get();
    tail_line_to_ = id;
    std::int64_t cursor = 0;
    auto goes_on = co_await open_tail(**line, cursor);
    const bool leads = primary_id_ == id;  // only a primary's word counts against our own
    if (goes_on && !*goes_on && !stopping_ && leads) {
        become(last() == optime{} ? member_state::startup2 : member_state::recovering);
        const auto copied = co_await copy_all(**line);
        if (copied && !stopping_)
            goes_on = co_await open_tail(**line, cursor);
        else if (last() != optime{} && state_ == member_state::recovering)
            become(member_state::secondary);  // what we had is still whole
    }
    if (goes_on && *goes_on && !stopping_) {
        source_id_ = id;
        source_host_ = host;
        applied_.notify();
        co_await tail_on(**line, id, cursor);
    }
    tail_line_ = nullptr;
}

/// True if what the source has goes on from what we have; the first entries are applied then.
awaitable<result<bool>> set_member::open_tail(peer& from, std::int64_t& cursor)
{
    const optime own = last();
    const bson::document request = find_oplog(own.ts);
    const auto reply = co_await from.ask(request.view(), node_.now() + 10s);
    if (!reply)
        co_return reply.error();
    if (!said_ok(*reply))
        co_return answer_of(*reply);
    cursor = number_or(reply->find_path("cursor.id"), 0);
    const bson::array_view batch = batch_of(*reply, "firstBatch");
    const bson::element first = batch[0];
    if (first.type() != bson::type::document)
        co_return false;
    const bson::view oldest = first.as_document();
    const bool from_the_start = text_or(oldest.find_path("o.msg"), "") == "initiating set";
    if (own == optime{} ? !from_the_start : time_of(oldest) != own)
        co_return false;
    bson::document kept{batch.as_document()};
    const auto applied = co_await apply_batch(std::move(kept));
    if (!applied)
        co_return applied.error();
    co_return cursor != 0;
}

awaitable<void> set_member::tail_on(peer& from, std::int32_t id, std::int64_t cursor)
{
    const bson::document request = more_of(cursor);
    while (!stopping_ && !paused_ && state_ != member_state::primary) {
        if (const link* const with = find_link(id))
            caught_up_with(*with);
        const time_point until = node_.now() + std::chrono::milliseconds{tail_wait_ms} +
                                 config_.election_timeout;
        const auto reply = co_await from.ask(request.view(), until);
        if (!reply || stopping_ || paused_ || !said_ok(*reply))
            co_return;
        if (state_ == member_state::primary || (primary_id_ >= 0 && primary_id_ != id))
            co_return;
        const bson::array_view batch = batch_of(*reply, "nextBatch");
        if (batch.empty())
            continue;
        bson::document kept{batch.as_document()};
        const auto applied = co_await apply_batch(std::move(kept));
        if (!applied)
            co_return;
    }
}

/// The entries after our own last one. A delayed member waits before each until it is old enough.
awaitable<result<void>> set_member::apply_batch(bson::document batch)
{
    for (const bson::element& e : batch) {
        if (e.type() != bson::type::document)
            co_return refuse(server_code::failed_to_parse, "an oplog entry that is no document");
        const optime at = time_of(e.as_document());
        if (at <= last())
            continue;
        const member_config* own = self();
        while (own && own->delay_secs > 0 && !stopping_) {
            const bson::datetime due{std::chrono::seconds{at.ts.seconds} +
                                     std::chrono::seconds{own->delay_secs}};
            if (due <= node_.wall_now())
                break;
            applied_some();
            const auto end = co_await runtime::sleep_until(node_.world, node_.now() + 100ms);
            if (end == wait_end::cancelled)
                co_return refuse(server_code::interrupted, "stopped");
            own = self();
        }
        if (stopping_ || state_ == member_state::primary)
            co_return refuse(server_code::interrupted, "stopped");
        auto done = node_.data->apply(e.as_document());
        if (!done)
            co_return done;
    }
    applied_some();
    co_return result<void>{};
}

void set_member::applied_some()
{
    node_.saw_cluster_time(last().ts);
    learn_commit(heard_commit_);
    node_.forget_history();
    applied_.notify();
    node_.news.notify();
}

/// A member that has what its source had when it last spoke may be read.
void set_member::caught_up_with(const link& source)
{
    const bool behind = state_ == member_state::startup2 || state_ == member_state::recovering ||
                        state_ == member_state::rollback;
    if (behind && last() >= source.applied)
        become(member_state::secondary);
}

/// Tells the source how far we are, whenever we are further.
awaitable<void> set_member::report()
{
    std::unique_ptr<peer> line;
    std::string to;
    optime announced;
    while (!stopping_) {
        const std::uint64_t seen = applied_.count();
        if (source_id_ < 0 || paused_ || (to == source_host_ && announced == last())) {
            const wait_end end = co_await applied_.wait(seen);
            if (end == wait_end::cancelled)
                co_return;
            continue;
        }
        const time_point until = node_.now() + config_.election_timeout;
        if (!line || to != source_host_) {
            line.reset();
            to = source_host_;
            auto made = co_await connect_to(to, until);
            if (made)
                line = *std::move(made);
        }
        const optime now_at = last();
        if (line && !stopping_) {
            const bson::document request = position_report(now_at);
            const auto reply = co_await line->ask(request.view(), until);
            if (reply && !stopping_ && !paused_) {
                announced = now_at;
                adopt_term(number_or(reply->find("term"), 0));
                learn_commit(read_optime(reply->find("committed")));
                continue;
            }
            line.reset();
        }
        to.clear();
        co_await runtime::sleep_until(node_.world, node_.now() + pause_after_failure);
    }
}

bson::document set_member::position_report(const optime& at) const
{
    return document_of([&](bson::builder& out) {
        out.add("replSetUpdatePosition", 1);
        {
            bson::array_builder all = out.array("optimes");
            bson::builder own = all.document();
            write_optime(own, "durableOpTime", at);
            write_optime(own, "appliedOpTime", at);
            own.add("memberId", self_id_).add("cfgver", config_.version);
        }
        out.add("term", term()).add("$db", "admin");
    });
}

}  // namespace holdfast::lab::mongo
