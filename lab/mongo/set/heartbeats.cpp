#include "lab/mongo/set/heartbeats.hpp"

#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/set/message_fields.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::lab::mongo {

using namespace std::chrono_literals;
using runtime::awaitable;
using runtime::wait_end;

namespace {

// A commit point travels with heartbeats, and majority reads on secondaries wait for it: a new one
// is sent sooner than at the next interval.
constexpr duration commit_heartbeat_after = 20ms;

}  // namespace

void heartbeats::connect_members()
{
    const set_config& config = role_.config();
    const std::int32_t self = role_.self_id();
    others_.retain([&](const remote_member& one) {
        const member_config* const still = config.by_id(one.id);
        return still && still->host == one.host && self >= 0;
    });
    for (const member_config& m : config.members) {
        if (m.id == self || self < 0 || others_.find(m.id))
            continue;
        const auto made = std::make_shared<remote_member>();
        made->id = m.id;
        made->host = m.host;
        others_.add(made);
        context_.tasks.start(loop(made));
    }
    context_.changed.notify();
}

void heartbeats::adopt_config(set_config next)
{
    role_.replace_config(std::move(next));
    if (context_.started)
        connect_members();
    commit_.update();
    role_.announce();
    context_.node.topology_changed();
}

/// A primary sends at every interval, since its heartbeats put off elections. The other members
/// exchange heartbeats just often enough to be counted as up, as long as there is a primary.
time_point heartbeats::due_at(const remote_member& with) const
{
    if (with.sent == time_point::min() || with.announced != role_.announcements())
        return time_point::min();
    duration interval = role_.config().heartbeat_interval;
    if (!role_.primary() && role_.primary_id() >= 0)
        interval = std::max<duration>(interval, role_.config().election_timeout);
    if (role_.primary() && with.up && with.sent_commit < commit_.committed())
        interval = std::min(interval, commit_heartbeat_after);
    return with.sent + interval;
}

awaitable<void> heartbeats::wait_until_due(remote_member_ptr with)
{
    while (!context_.stopping && !with->gone) {
        const std::uint64_t seen = context_.changed.count();
        const time_point next = context_.paused ? runtime::never : due_at(*with);
        if (next <= context_.now())
            co_return;
        const wait_end end = co_await context_.changed.wait(seen, next);
        if (end == wait_end::cancelled)
            co_return;
    }
}

awaitable<void> heartbeats::loop(remote_member_ptr with)
{
    std::unique_ptr<peer> line;
    while (!context_.stopping && !with->gone) {
        const time_point began = context_.now();
        with->sent = began;
        with->announced = role_.announcements();
        with->sent_commit = commit_.committed();
        commit_.announced();
        with->asked_at = context_.node.wall_now();
        const time_point until = began + role_.config().election_timeout;
        if (!line) {
            auto made = co_await context_.connect_to(with->host, until);
            if (made)
                line = *std::move(made);
            else if (!context_.stopping)
                failed(*with, made.error());
        }
        if (line && !context_.stopping && !with->gone) {
            const bson::document beat = request();
            auto reply = co_await line->ask(beat.view(), until);
            if (context_.stopping || with->gone)
                break;
            if (reply && !context_.paused)
                answered(*with, *reply, context_.now() - began);
            if (!reply) {
                line.reset();
                failed(*with, reply.error());
            }
        }
        co_await wait_until_due(with);
    }
}

bson::document heartbeats::request() const
{
    return document_of([&](bson::builder& out) {
        out.add("replSetHeartbeat", role_.config().name)
            .add("configVersion", role_.config().version)
            .add("configTerm", role_.config().term)
            .add("hbv", 1)
            .add("from", context_.node.options.own_address)
            .add("fromId", role_.self_id())
            .add("term", role_.term())
            .add("primaryId", role_.primary_id())
            .add("state", static_cast<std::int32_t>(role_.state()));
        write_optime(out, "committed", commit_.committed());
        out.add("$db", "admin");
    });
}

void heartbeats::failed(remote_member& with, const error& cause)
{
    const bool was_up = std::exchange(with.up, false);
    with.state = member_state::down;
    with.trouble = cause.message();
    if (role_.primary_id() != with.id)
        return;
    // A refused connection shows that the process is gone; other errors wait for the timeout. The
    // jitter keeps two members from standing at the same time.
    const bool refused = cause.code() == runtime::errc::connect_failed;
    if (refused) {
        const double chance = context_.node.world.chance();
        const duration jitter{static_cast<std::int64_t>(chance * 200'000'000)};
        role_.set_election_due(std::min(role_.election_due(), context_.now() + jitter));
    }
    if (was_up || refused)
        role_.lost_primary();
}

void heartbeats::answered(remote_member& with, bson::view reply, duration took)
{
    const bool was_up = with.up;
    const member_state before = with.state;
    with.heard = context_.now();
    with.answered_at = context_.node.wall_now();
    with.ping = took;
    with.up = said_ok(reply);
    with.trouble = with.up ? std::string{} : std::string{text_or(reply.find("errmsg"), "")};
    with.state = member_state::unknown;
    if (!with.up)
        return;
    with.state = static_cast<member_state>(number_or(reply.find("state"), 6));
    if (!was_up || with.state != before)
        context_.node.news.notify();  // a replSetStepDown may wait for it
    with.applied = read_optime(reply.find("opTime"));
    with.config_version = number_or(reply.find("v"), -1);
    with.config_term = number_or(reply.find("configTerm"), -1);
    const std::int64_t their_term = number_or(reply.find("term"), 0);
    role_.adopt_term(their_term);
    if (const bson::element sent = reply.find("config"); sent.type() == bson::type::document) {
        auto config = read_config(sent.as_document());
        if (config && newer(*config, role_.config().version, role_.config().term)) {
            adopt_config(*std::move(config));
            return;  // `with` may be gone
        }
    }
    heard_role(with, with.state, their_term, reply.find("committed"));
    if (role_.primary_id() < 0 && with.applied > role_.last())
        context_.changed.notify();  // it can be a sync source
    if (role_.primary() && their_term == role_.term()) {
        commit_.raise_position(with.id, with.applied);
        commit_.update();
    }
}

void heartbeats::heard_role(const remote_member& with, member_state state, std::int64_t term,
                            const bson::element& committed)
{
    if (state == member_state::primary && term == role_.term()) {
        if (role_.is_new_primary(with.id))
            replication_.leave_source_for(with.id);
        role_.heard_primary(with.id);
        commit_.learn(read_optime(committed));
    } else if (role_.primary_id() == with.id) {
        role_.lost_primary();
    }
}

result<void> heartbeats::answer(bson::view request, bson::builder& reply)
{
    const set_config& config = role_.config();
    if (!role_.has_config()) {
        const std::string_view from = text_or(request.find("from"), "");
        if (!from.empty() && context_.started)
            context_.tasks.start(fetch_config(std::string{from}));
        return refuse(94, "no replset config has been received");
    }
    if (text_or(request.find("replSetHeartbeat"), "") != config.name)
        return refuse(server_code::bad_value,
                      "Our set name did not match that of the request: " + config.name);
    role_.adopt_term(number_or(request.find("term"), 0));
    const auto from = static_cast<std::int32_t>(number_or(request.find("fromId"), -1));
    if (remote_member* const with = others_.find(from))
        heard_from(*with, request);
    else if (context_.started && role_.self_id() < 0)
        context_.tasks.start(fetch_config(std::string{text_or(request.find("from"), "")}));
    reply.add("state", static_cast<std::int32_t>(role_.shown_state()))
        .add("v", config.version)
        .add("configTerm", config.term)
        .add("set", config.name)
        .add("term", role_.term())
        .add("primaryId", role_.primary_id())
        .add("electable", role_.may_stand());
    write_optime(reply, "durableOpTime", role_.last());
    write_optime(reply, "opTime", role_.last());
    write_optime(reply, "committed", commit_.committed());
    if (newer(config, number_or(request.find("configVersion"), 0),
              number_or(request.find("configTerm"), -1))) {
        bson::builder sent = reply.document("config");
        write_config(sent, config);
    }
    return {};
}

void heartbeats::heard_from(remote_member& with, bson::view request)
{
    with.heard = context_.now();
    const auto state = static_cast<member_state>(number_or(request.find("state"), 6));
    if (with.up && std::exchange(with.state, state) != state)
        context_.node.news.notify();
    heard_role(with, state, number_or(request.find("term"), 0), request.find("committed"));
    set_config theirs;
    theirs.version = number_or(request.find("configVersion"), 0);
    theirs.term = number_or(request.find("configTerm"), -1);
    if (newer(theirs, role_.config().version, role_.config().term)) {
        with.sent = time_point::min();  // the reply to a heartbeat at once has the configuration
        context_.changed.notify();
    }
}

/// For a member that has no configuration, or is not in the one that it has.
awaitable<void> heartbeats::fetch_config(std::string from)
{
    bson::document ask = document_of(
        [](bson::builder& out) { out.add("replSetGetConfig", 1).add("$db", "admin"); });
    const auto reply = co_await context_.call(std::move(from), std::move(ask), 1s);
    if (!reply || context_.stopping)
        co_return;
    const bson::element sent = reply->find("config");
    if (sent.type() != bson::type::document)
        co_return;
    auto config = read_config(sent.as_document());
    const bool later = config && (!role_.has_config() ||
                                  newer(*config, role_.config().version, role_.config().term));
    if (later && config->by_host(context_.node.options.own_address) != nullptr)
        adopt_config(*std::move(config));
}

}  // namespace holdfast::lab::mongo
