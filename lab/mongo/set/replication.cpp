#include "lab/mongo/set/replication.hpp"

#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/set/initial_sync.hpp"
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
constexpr std::size_t entries_at_once = 256;

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

void replication::start()
{
    context_.tasks.start(fetch_loop());
    context_.tasks.start(report_loop());
}

void replication::cancel_fetch() noexcept
{
    if (fetching_from_ != nullptr)
        fetching_from_->cancel();
}

void replication::leave_source_for(std::int32_t new_primary) noexcept
{
    if (fetching_from_id_ != new_primary)
        cancel_fetch();
}

void replication::positions_reported(bson::array_view optimes)
{
    for (const bson::element& one : optimes) {
        if (one.type() != bson::type::document)
            continue;
        const bson::view from = one.as_document();
        const auto id = static_cast<std::int32_t>(number_or(from.find("memberId"), -1));
        remote_member* const with = others_.find(id);
        if (!with)
            continue;
        with->heard = context_.now();
        with->applied = read_optime(from.find("appliedOpTime"));
        commit_.set_position(id, with->applied);
    }
    commit_.update();
    context_.node.news.notify();
    context_.progress.notify();
}

/// The primary. While there is none, the secondary with the newest write: it may be one that cannot
/// stand (priority 0), and no other member could win without what it has.
std::int32_t replication::pick_source() const
{
    if (role_.primary_id() >= 0)
        return role_.primary_id();
    std::int32_t best = -1;
    optime most = role_.last();
    for (const auto& [id, with] : others_) {
        if (!with->up || with->state != member_state::secondary || with->applied <= most)
            continue;
        most = with->applied;
        best = id;
    }
    return best;
}

/// A source that has stepped down is read until there is another primary: the entries that only it
/// has are those that the next primary needs.
awaitable<void> replication::fetch_loop()
{
    while (!context_.stopping) {
        const std::uint64_t seen = context_.changed.count();
        const member_config* const from = role_.config().by_id(pick_source());
        const member_config* const own = role_.self();
        const bool wanted = from && own && own->has_data() && from != own && !context_.paused;
        if (!wanted) {
            const wait_end end = co_await context_.changed.wait(seen);
            if (end == wait_end::cancelled)
                co_return;
            continue;
        }
        const std::int32_t id = from->id;
        co_await follow(id, from->host);
        source_id_ = -1;
        source_host_.clear();
        context_.progress.notify();
        if (remote_member* const with = others_.find(id); with && !context_.stopping) {
            with->sent = time_point::min();  // is it still there?
            context_.changed.notify();
        }
        co_await runtime::sleep_until(context_.node.world, context_.now() + pause_after_failure);
    }
}

awaitable<void> replication::follow(std::int32_t id, std::string host)
{
    auto line = co_await context_.connect_to(host,
                                             context_.now() + role_.config().election_timeout);
    if (!line || context_.stopping)
        co_return;
    fetching_from_ = line->get();
    fetching_from_id_ = id;
    std::int64_t cursor = 0;
    auto goes_on = co_await open_cursor(**line, cursor);
    // Only the oplog of a primary may make this member give up its own data.
    const bool leads = role_.primary_id() == id;
    if (goes_on && !*goes_on && !context_.stopping && leads) {
        role_.become(role_.last() == optime{} ? member_state::startup2 : member_state::recovering);
        const auto copied = co_await run_initial_sync(context_, role_, commit_, **line);
        if (copied && !context_.stopping)
            goes_on = co_await open_cursor(**line, cursor);
        else if (role_.last() != optime{} && role_.state() == member_state::recovering)
            role_.become(member_state::secondary);  // the own data was kept
    }
    if (goes_on && *goes_on && !context_.stopping) {
        source_id_ = id;
        source_host_ = host;
        context_.progress.notify();
        co_await fetch_batches(**line, id, cursor);
    }
    fetching_from_ = nullptr;
}

/// True if the oplog of the source continues the own one; its first entries are applied then.
awaitable<result<bool>> replication::open_cursor(peer& from, std::int64_t& cursor)
{
    const optime own = role_.last();
    const bson::document request = find_oplog(own.ts);
    const auto reply = co_await from.ask(request.view(), context_.now() + 10s);
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

awaitable<void> replication::fetch_batches(peer& from, std::int32_t id, std::int64_t cursor)
{
    const bson::document request = more_of(cursor);
    while (context_.active() && !role_.primary()) {
        if (const remote_member* const with = others_.find(id))
            caught_up_with(*with);
        const time_point until = context_.now() + std::chrono::milliseconds{tail_wait_ms} +
                                 role_.config().election_timeout;
        const auto reply = co_await from.ask(request.view(), until);
        if (!reply || !context_.active() || !said_ok(*reply))
            co_return;
        if (role_.primary() || (role_.primary_id() >= 0 && role_.primary_id() != id))
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

/// Applies the entries after the own last one. A delayed member waits before each until it is old
/// enough. After some entries others have their turn: without heartbeats there would be elections.
awaitable<result<void>> replication::apply_batch(bson::document batch)
{
    const std::int64_t term = role_.term();
    std::size_t taken = 0;
    for (const bson::element& e : batch) {
        if (e.type() != bson::type::document)
            co_return refuse(server_code::failed_to_parse, "an oplog entry that is no document");
        const optime at = time_of(e.as_document());
        if (at <= role_.last())
            continue;
        const member_config* own = role_.self();
        while (own && own->delay_secs > 0 && !context_.stopping) {
            const bson::datetime due{std::chrono::seconds{at.ts.seconds} +
                                     std::chrono::seconds{own->delay_secs}};
            if (due <= context_.node.wall_now())
                break;
            commit_.applied();
            const auto end = co_await runtime::sleep_until(context_.node.world,
                                                           context_.now() + 100ms);
            if (end == wait_end::cancelled)
                co_return refuse(server_code::interrupted, "stopped");
            own = role_.self();
        }
        if (++taken % entries_at_once == 0) {
            commit_.applied();
            const auto end = co_await runtime::sleep_until(context_.node.world, context_.now());
            if (end == wait_end::cancelled || role_.term() != term)
                co_return refuse(server_code::interrupted, "stopped");
        }
        if (context_.stopping || role_.primary())
            co_return refuse(server_code::interrupted, "stopped");
        auto done = context_.node.data->apply(e.as_document());
        if (!done)
            co_return done;
    }
    commit_.applied();
    co_return result<void>{};
}

/// A member that has what its source had at the last heartbeat may be read.
void replication::caught_up_with(const remote_member& source)
{
    const bool behind = role_.state() == member_state::startup2 ||
                        role_.state() == member_state::recovering ||
                        role_.state() == member_state::rollback;
    if (behind && role_.last() >= source.applied)
        role_.become(member_state::secondary);
}

/// Sends replSetUpdatePosition to the source whenever the own position has advanced.
awaitable<void> replication::report_loop()
{
    std::unique_ptr<peer> line;
    std::string to;
    optime announced;
    while (!context_.stopping) {
        const std::uint64_t seen = context_.progress.count();
        if (source_id_ < 0 || context_.paused ||
            (to == source_host_ && announced == role_.last())) {
            const wait_end end = co_await context_.progress.wait(seen);
            if (end == wait_end::cancelled)
                co_return;
            continue;
        }
        const time_point until = context_.now() + role_.config().election_timeout;
        if (!line || to != source_host_) {
            line.reset();
            to = source_host_;
            auto made = co_await context_.connect_to(to, until);
            if (made)
                line = *std::move(made);
        }
        const optime now_at = role_.last();
        if (line && !context_.stopping) {
            const bson::document request = position_report(now_at);
            const auto reply = co_await line->ask(request.view(), until);
            if (reply && context_.active()) {
                announced = now_at;
                role_.adopt_term(number_or(reply->find("term"), 0));
                commit_.learn(read_optime(reply->find("committed")));
                continue;
            }
            line.reset();
        }
        to.clear();
        co_await runtime::sleep_until(context_.node.world, context_.now() + pause_after_failure);
    }
}

bson::document replication::position_report(const optime& at) const
{
    return document_of([&](bson::builder& out) {
        out.add("replSetUpdatePosition", 1);
        {
            bson::array_builder all = out.array("optimes");
            bson::builder own = all.document();
            write_optime(own, "durableOpTime", at);
            write_optime(own, "appliedOpTime", at);
            own.add("memberId", role_.self_id()).add("cfgver", role_.config().version);
        }
        out.add("term", role_.term()).add("$db", "admin");
    });
}

}  // namespace holdfast::lab::mongo
