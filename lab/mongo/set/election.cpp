#include "lab/mongo/set/election.hpp"

#include "lab/mongo/set/message_fields.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::lab::mongo {

using namespace std::chrono_literals;
using runtime::awaitable;
using runtime::wait_end;

void election::start()
{
    role_.put_off_election();
    // A set that has never had a primary, or has one voter only, need not wait for one.
    if ((role_.term() == 0 || role_.config().voters() == 1) && role_.may_stand())
        role_.set_election_due(context_.now());
    context_.tasks.start(loop());
}

std::int64_t election::request_election()
{
    requested_ = true;
    unfreeze();
    return static_cast<std::int64_t>(lost_) + 1;
}

bool election::is_lost(std::int64_t ticket) const noexcept
{
    // An election that was under way before may be lost first, and is not the requested one.
    return !requested_ && !standing_ && static_cast<std::int64_t>(lost_) >= ticket;
}

void election::resign(duration period)
{
    not_before_ = context_.now() + period;
    role_.step_down();
    context_.tasks.start(hand_over());
}

void election::unfreeze()
{
    not_before_ = time_point::min();
    context_.changed.notify();
}

/// When a primary must step down, unless messages of a majority arrive before.
time_point election::deposed_at() const
{
    std::vector<std::pair<std::int32_t, time_point>> heard;
    for (const auto& [id, with] : others_)
        heard.emplace_back(id, with->heard);
    const time_point since = majority_heard(role_.config(), role_.self_id(), context_.now(), heard);
    return since == time_point::min() ? since : since + role_.config().election_timeout;
}

/// When a member of a higher priority than the primary's stands although there is one: after a
/// while, and if it has what the primary has.
time_point election::takeover_at() const
{
    const member_config* const leads = role_.config().by_id(role_.primary_id());
    const remote_member* const with = others_.find(role_.primary_id());
    if (!leads || !with || role_.self()->priority <= leads->priority)
        return runtime::never;
    const time_point at = std::max(role_.primary_since() + 2 * role_.config().election_timeout,
                                   not_before_);
    const bool has_all = role_.last().ts.seconds + 1 >= with->applied.ts.seconds;
    return has_all || at > context_.now() ? at : context_.now() + role_.config().election_timeout;
}

awaitable<void> election::loop()
{
    while (!context_.stopping) {
        const std::uint64_t seen = context_.changed.count();
        time_point next = runtime::never;
        if (role_.primary() && !context_.paused) {
            next = deposed_at();
            if (next <= context_.now()) {
                role_.step_down();
                continue;
            }
        } else if (role_.may_stand()) {
            next = std::max(role_.election_due(), not_before_);
            const time_point takes_over = takeover_at();
            const bool asked = std::exchange(requested_, false);
            const bool over = takes_over <= context_.now();
            if (asked || over || next <= context_.now()) {
                co_await stand(asked  ? reason::requested
                               : over ? reason::takeover
                                      : reason::timeout);
                continue;
            }
            next = std::min(next, takes_over);
        }
        const wait_end end = co_await context_.changed.wait(seen, next);
        if (end == wait_end::cancelled)
            co_return;
    }
}

/// Asks first whether it would win, so that a member that cannot win does not end the term of a
/// primary that leads well.
awaitable<void> election::stand(reason cause)
{
    standing_ = true;
    role_.put_off_election();
    role_.takeover_tried();  // so that one that fails is not tried again at once
    bool go_on = true;
    if (cause != reason::requested) {
        go_on = co_await poll(role_.term(), true);
        go_on = go_on && role_.may_stand() && (role_.primary_id() < 0 || cause == reason::takeover);
    }
    if (go_on) {
        const std::int64_t now_standing_in = role_.term() + 1;
        context_.node.data->set_term(now_standing_in);
        context_.node.data->voted(now_standing_in);
        role_.lost_primary();
        const bool won = co_await poll(now_standing_in, false);
        if (won && role_.may_stand() && role_.term() == now_standing_in)
            win();
    }
    standing_ = false;
    if (!role_.primary()) {
        ++lost_;
        context_.node.news.notify();
    }
}

bson::document election::vote_request_message(std::int64_t in_term, bool dry_run) const
{
    const set_config& config = role_.config();
    const auto place = std::ranges::find(config.members, role_.self_id(), &member_config::id) -
                       config.members.begin();
    return document_of([&](bson::builder& out) {
        out.add("replSetRequestVotes", 1)
            .add("setName", config.name)
            .add("dryRun", dry_run)
            .add("term", in_term)
            .add("candidateIndex", static_cast<std::int64_t>(place))
            .add("configVersion", config.version)
            .add("configTerm", config.term);
        write_optime(out, "lastAppliedOpTime", role_.last());
        out.add("$db", "admin");
    });
}

awaitable<bool> election::poll(std::int64_t in_term, bool dry_run)
{
    const auto votes = std::make_shared<ballot>(context_.node.world);
    const bson::document request = vote_request_message(in_term, dry_run);
    std::size_t asked = 0;
    for (const member_config& m : role_.config().members) {
        if (m.id == role_.self_id() || !m.voter())
            continue;
        context_.tasks.start(ask_vote(votes, m.host, bson::document{request.view()}));
        ++asked;
    }
    const time_point until = context_.now() + role_.config().election_timeout;
    const std::size_t needed = role_.config().majority();
    while (!context_.stopping && role_.term() == in_term) {
        const std::uint64_t seen = votes->changed.count();
        if (votes->yes >= needed)
            co_return true;
        if (votes->answers == asked || context_.now() >= until)
            break;
        const wait_end end = co_await votes->changed.wait(seen, until);
        if (end == wait_end::cancelled)
            break;
    }
    co_return false;
}

awaitable<void> election::ask_vote(std::shared_ptr<ballot> votes, std::string host,
                                   bson::document request)
{
    const auto reply = co_await context_.call(std::move(host), std::move(request),
                                              role_.config().election_timeout);
    if (context_.stopping)
        co_return;
    if (reply && !context_.paused) {
        role_.adopt_term(number_or(reply->find("term"), 0));
        if (said_ok(*reply) && flag_or(reply->find("voteGranted"), false))
            ++votes->yes;
    }
    ++votes->answers;
    votes->changed.notify();
}

vote election::answer(const vote_request& from)
{
    if (!from.dry_run) {
        role_.adopt_term(from.term);
        if (from.term > role_.term())
            return {false, "no set gets as old as that term"};
    }
    const member_config* const own = role_.self();
    const member_config* const leads = role_.config().by_id(role_.primary_id());
    const bool known = from.candidate >= 0 &&
                       static_cast<std::size_t>(from.candidate) < role_.config().members.size();
    const voter_state state{
        .config = role_.config(),
        .term = role_.term(),
        .voted_in = context_.node.data->voted_in(),
        .last = role_.last(),
        .sees_primary =
            leads && known &&
            leads->priority >=
                role_.config().members[static_cast<std::size_t>(from.candidate)].priority,
        .arbiter = role_.state() == member_state::arbiter,
    };
    if (!own || !own->voter())
        return {false, "this member has no vote"};
    vote given = decide_vote(from, state);
    if (given.granted && !from.dry_run) {
        context_.node.data->voted(from.term);
        role_.put_off_election();
    }
    return given;
}

void election::win()
{
    commit_.restart();
    for (const auto& [id, with] : others_)
        with->heard = context_.now();
    role_.become_primary();
    const bson::document note = document_of(
        [](bson::builder& out) { out.add("msg", "new primary"); });
    const change first{.op = 'n', .ns = "", .o = note.view()};
    if (const auto at = context_.node.write(first))
        elected_at_ = *at;
    role_.announce();
}

bool election::others_have(const optime& target) const
{
    std::size_t count = 0;
    bool electable = false;
    for (const member_config& m : role_.config().members) {
        const auto found = commit_.reached().find(m.id);
        if (!m.has_data() || found == commit_.reached().end() || found->second < target)
            continue;
        count += m.voter() ? 1U : 0U;
        const remote_member* const with = others_.find(m.id);
        electable = electable || (m.id != role_.self_id() && m.may_stand() && with && with->up &&
                                  with->state == member_state::secondary);
    }
    return electable && count >= role_.config().write_majority();
}

/// The electable member of the highest priority that has all that this one has.
const remote_member* election::best_successor() const
{
    const set_config& config = role_.config();
    const remote_member* best = nullptr;
    for (const auto& [id, with] : others_) {
        const member_config* const m = config.by_id(id);
        const auto reached = commit_.reached().find(id);
        const bool ready = m && m->may_stand() && with->up && reached != commit_.reached().end() &&
                           reached->second >= role_.last();
        if (ready && (!best || m->priority > config.by_id(best->id)->priority))
            best = with.get();
    }
    return best;
}

/// After a step-down by command, a member that has everything is asked to stand now.
awaitable<void> election::hand_over()
{
    const time_point until = context_.now() + role_.config().election_timeout;
    while (!context_.stopping && role_.primary_id() < 0 &&
           role_.state() == member_state::secondary) {
        const std::uint64_t seen = context_.progress.count();
        if (const remote_member* const best = best_successor()) {
            bson::document ask = document_of([](bson::builder& out) {
                out.add("replSetStepUp", 1).add("skipDryRun", true).add("$db", "admin");
            });
            co_await context_.call(best->host, std::move(ask), role_.config().election_timeout);
            co_return;
        }
        const wait_end end = co_await context_.progress.wait(seen, until);
        if (end != wait_end::notified)
            co_return;
    }
}

}  // namespace holdfast::lab::mongo
