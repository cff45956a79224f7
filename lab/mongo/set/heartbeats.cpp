#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/set/set_member.hpp"
#include "lab/mongo/set/snapshot.hpp"
#include "lab/mongo/set/message_fields.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::lab::mongo {

using namespace std::chrono_literals;
using runtime::awaitable;
using runtime::wait_end;

namespace {

constexpr std::int64_t greatest_term = std::int64_t{1} << 53;  // no set gets that old
constexpr duration commit_news_after = 20ms;
constexpr duration snapshot_timeout = 60s;

}  // namespace

/// A primary is heard of often, because others wait for it. The others tell each other just often
/// enough to be counted, as long as there is a primary.
time_point set_member::next_beat(const link& with) const
{
    if (with.sent == time_point::min() || with.announced != announcements_)
        return time_point::min();
    duration interval = config_.heartbeat_interval;
    if (state_ != member_state::primary && primary_id_ >= 0)
        interval = std::max<duration>(interval, config_.election_timeout);
    if (state_ == member_state::primary && with.up && with.sent_commit < committed_)
        interval = std::min(interval, commit_news_after);
    return with.sent + interval;
}

awaitable<void> set_member::wait_for_beat(link_ptr with)
{
    while (!stopping_ && !with->gone) {
        const std::uint64_t seen = wake_.count();
        const time_point next = paused_ ? runtime::never : next_beat(*with);
        if (next <= node_.now())
            co_return;
        const wait_end end = co_await wake_.wait(seen, next);
        if (end == wait_end::cancelled)
            co_return;
    }
}

awaitable<void> set_member::heartbeats(link_ptr with)
{
    std::unique_ptr<peer> line;
    while (!stopping_ && !with->gone) {
        const time_point began = node_.now();
        with->sent = began;
        with->announced = announcements_;
        with->sent_commit = committed_;
        commit_to_announce_ = false;
        with->asked_at = node_.wall_now();
        const time_point until = began + config_.election_timeout;
        if (!line) {
            auto made = co_await connect_to(with->host, until);
            if (made)
                line = *std::move(made);
            else if (!stopping_)
                heartbeat_failed(*with, made.error());
        }
        if (line && !stopping_ && !with->gone) {
            const bson::document request = heartbeat_request();
            auto reply = co_await line->ask(request.view(), until);
            if (stopping_ || with->gone)
                break;
            if (reply && !paused_)
                heartbeat_answered(*with, *reply, node_.now() - began);
            if (!reply) {
                line.reset();
                heartbeat_failed(*with, reply.error());
            }
        }
        co_await wait_for_beat(with);
    }
}

bson::document set_member::heartbeat_request() const
{
    return document_of([&](bson::builder& out) {
        out.add("replSetHeartbeat", config_.name)
            .add("configVersion", config_.version)
            .add("configTerm", config_.term)
            .add("hbv", 1)
            .add("from", node_.options.own_address)
            .add("fromId", self_id_)
            .add("term", term())
            .add("primaryId", primary_id_)
            .add("state", static_cast<std::int32_t>(state_));
        write_optime(out, "committed", committed_);
        out.add("$db", "admin");
    });
}

void set_member::heartbeat_failed(link& with, const error& why)
{
    const bool was_up = std::exchange(with.up, false);
    with.state = member_state::down;
    with.trouble = why.message();
    if (primary_id_ != with.id)
        return;
    // It is gone for certain if nobody takes connections there; otherwise wait for the timeout.
    const bool refused = why.code() == runtime::errc::connect_failed;
    if (refused)
        election_at_ = std::min(
            election_at_,
            node_.now() + duration{static_cast<std::int64_t>(node_.world.chance() * 200'000'000)});
    if (was_up || refused)
        lost_primary();
}

void set_member::heartbeat_answered(link& with, bson::view reply, duration took)
{
    const bool was_up = with.up;
    const member_state before = with.state;
    with.heard = node_.now();
    with.answered_at = node_.wall_now();
    with.ping = took;
    with.up = said_ok(reply);
    with.trouble = with.up ? std::string{} : std::string{text_or(reply.find("errmsg"), "")};
    with.state = member_state::unknown;
    if (!with.up)
        return;
    with.state = static_cast<member_state>(number_or(reply.find("state"), 6));
    if (!was_up || with.state != before)
        node_.news.notify();  // a step-down may wait for it
    with.applied = read_optime(reply.find("opTime"));
    with.config_version = number_or(reply.find("v"), -1);
    with.config_term = number_or(reply.find("configTerm"), -1);
    const std::int64_t their_term = number_or(reply.find("term"), 0);
    adopt_term(their_term);
    if (const bson::element sent = reply.find("config"); sent.type() == bson::type::document) {
        auto config = read_config(sent.as_document());
        if (config && newer(*config, config_.version, config_.term)) {
            adopt_config(*std::move(config));
            return;  // `with` may be gone
        }
    }
    if (with.state == member_state::primary && their_term == term()) {
        learned_primary(with.id);
        learn_commit(read_optime(reply.find("committed")));
    } else if (primary_id_ == with.id) {
        lost_primary();
    }
    if (primary_id_ < 0 && with.applied > last())
        wake_.notify();  // it has something to give
    if (state_ == member_state::primary && their_term == term()) {
        positions_[with.id] = std::max(positions_[with.id], with.applied);
        update_commit();
    }
}

result<void> set_member::heartbeat_asked(bson::view request, bson::builder& reply)
{
    if (snapshot_ && node_.now() - snapshot_->used > snapshot_timeout)
        snapshot_.reset();  // whoever fetched it is gone
    if (!has_config_) {
        const std::string_view from = text_or(request.find("from"), "");
        if (!from.empty() && started_)
            tasks_.start(fetch_config(std::string{from}));
        return refuse(94, "no replset config has been received");
    }
    if (text_or(request.find("replSetHeartbeat"), "") != config_.name)
        return refuse(server_code::bad_value,
                      "Our set name did not match that of the request: " + config_.name);
    const std::int64_t their_term = number_or(request.find("term"), 0);
    adopt_term(their_term);
    const auto from = static_cast<std::int32_t>(number_or(request.find("fromId"), -1));
    if (link* const with = find_link(from)) {
        with->heard = node_.now();
        const auto state = static_cast<member_state>(number_or(request.find("state"), 6));
        if (with->up && std::exchange(with->state, state) != state)
            node_.news.notify();
        if (state == member_state::primary && their_term == term()) {
            learned_primary(from);
            learn_commit(read_optime(request.find("committed")));
        } else if (primary_id_ == from) {
            lost_primary();
        }
        const std::int64_t version = number_or(request.find("configVersion"), 0);
        const std::int64_t config_term = number_or(request.find("configTerm"), -1);
        set_config theirs;
        theirs.version = version;
        theirs.term = config_term;
        if (newer(theirs, config_.version, config_.term))
            with->sent = time_point::min(), wake_.notify();  // ask back: the answer has it
    } else if (started_ && self_id_ < 0) {
        tasks_.start(fetch_config(std::string{text_or(request.find("from"), "")}));
    }
    reply.add("state", static_cast<std::int32_t>(maintenance_ ? member_state::recovering : state_))
        .add("v", config_.version)
        .add("configTerm", config_.term)
        .add("set", config_.name)
        .add("term", term())
        .add("primaryId", primary_id_)
        .add("electable", may_stand());
    write_optime(reply, "durableOpTime", last());
    write_optime(reply, "opTime", last());
    write_optime(reply, "committed", committed_);
    if (newer(config_, number_or(request.find("configVersion"), 0),
              number_or(request.find("configTerm"), -1))) {
        bson::builder config = reply.document("config");
        write_config(config, config_);
    }
    return {};
}

/// For a member that is in nobody's configuration that it knows.
awaitable<void> set_member::fetch_config(std::string from)
{
    bson::document ask = document_of(
        [](bson::builder& out) { out.add("replSetGetConfig", 1).add("$db", "admin"); });
    const auto reply = co_await call(std::move(from), std::move(ask), 1s);
    if (!reply || stopping_)
        co_return;
    const bson::element sent = reply->find("config");
    if (sent.type() != bson::type::document)
        co_return;
    auto config = read_config(sent.as_document());
    const bool later = config && (!has_config_ || newer(*config, config_.version, config_.term));
    if (later && config->by_host(node_.options.own_address) != nullptr)
        adopt_config(*std::move(config));
}

void set_member::learned_primary(std::int32_t id)
{
    if (id == self_id_ || state_ == member_state::primary)
        return;
    put_off_election();
    if (primary_id_ == id)
        return;
    primary_id_ = id;
    primary_since_ = node_.now();
    if (tail_line_ != nullptr && tail_line_to_ != id)
        tail_line_->cancel();
    node_.topology_changed();
    wake_.notify();
}

void set_member::lost_primary()
{
    if (primary_id_ < 0 || state_ == member_state::primary)
        return;
    primary_id_ = -1;
    node_.topology_changed();
    wake_.notify();
}

bool set_member::adopt_term(std::int64_t newest)
{
    if (newest <= term() || newest > greatest_term)
        return false;
    node_.data->set_term(newest);
    if (state_ == member_state::primary)
        step_down();
    lost_primary();
    return true;
}

}  // namespace holdfast::lab::mongo
