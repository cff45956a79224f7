#include "lab/mongo/set/set_member.hpp"
#include "lab/mongo/set/message_fields.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::lab::mongo {

using namespace std::chrono_literals;
using runtime::awaitable;
using runtime::wait_end;

/// When a primary must give up, unless it hears of a majority before.
time_point set_member::deposed_at() const
{
    std::vector<std::pair<std::int32_t, time_point>> heard;
    for (const auto& [id, with] : links_)
        heard.emplace_back(id, with->heard);
    const time_point since = majority_heard(config_, self_id_, node_.now(), heard);
    return since == time_point::min() ? since : since + config_.election_timeout;
}

/// When a member of a higher priority than the primary's stands although there is one: after a
/// while, and if it has what the primary has.
time_point set_member::takeover_at() const
{
    const member_config* const leads = config_.by_id(primary_id_);
    const auto with = links_.find(primary_id_);
    if (!leads || with == links_.end() || self()->priority <= leads->priority)
        return runtime::never;
    const time_point at = std::max(primary_since_ + 2 * config_.election_timeout, not_before_);
    const bool has_all = last().ts.seconds + 1 >= with->second->applied.ts.seconds;
    return has_all || at > node_.now() ? at : node_.now() + config_.election_timeout;
}

awaitable<void> set_member::watch()
{
    while (!stopping_) {
        const std::uint64_t seen = wake_.count();
        time_point next = runtime::never;
        if (state_ == member_state::primary && !paused_) {
            next = deposed_at();
            if (next <= node_.now()) {
                step_down();
                continue;
            }
        } else if (may_stand()) {
            next = std::max(election_at_, not_before_);
            const time_point takes_over = takeover_at();
            const bool asked = std::exchange(asked_to_stand_, false);
            const bool over = takes_over <= node_.now();
            if (asked || over || next <= node_.now()) {
                co_await stand(asked ? reason::asked : over ? reason::takeover : reason::alone);
                continue;
            }
            next = std::min(next, takes_over);
        }
        const wait_end end = co_await wake_.wait(seen, next);
        if (end == wait_end::cancelled)
            co_return;
    }
}

/// Asks first whether it would win, so that a member that cannot win does not end the term of a
/// primary that leads well.
awaitable<void> set_member::stand(reason why)
{
    stands_ = true;
    put_off_election();
    primary_since_ = node_.now();  // so that a takeover that failed is not tried again at once
    bool go_on = true;
    if (why != reason::asked) {
        go_on = co_await poll(term(), true);
        go_on = go_on && may_stand() && (primary_id_ < 0 || why == reason::takeover);
    }
    if (go_on) {
        const std::int64_t now_standing_in = term() + 1;
        node_.data->set_term(now_standing_in);
        node_.data->voted(now_standing_in);
        lost_primary();
        const bool won = co_await poll(now_standing_in, false);
        if (won && may_stand() && term() == now_standing_in)
            become_primary();
    }
    stands_ = false;
    if (state_ != member_state::primary) {
        ++elections_lost_;
        node_.news.notify();
    }
}

awaitable<bool> set_member::poll(std::int64_t in_term, bool dry_run)
{
    const auto votes = std::make_shared<ballot>(node_.world);
    const auto place = std::ranges::find(config_.members, self_id_, &member_config::id) -
                       config_.members.begin();
    const bson::document request = document_of([&](bson::builder& out) {
        out.add("replSetRequestVotes", 1)
            .add("setName", config_.name)
            .add("dryRun", dry_run)
            .add("term", in_term)
            .add("candidateIndex", static_cast<std::int64_t>(place))
            .add("configVersion", config_.version)
            .add("configTerm", config_.term);
        write_optime(out, "lastAppliedOpTime", last());
        out.add("$db", "admin");
    });
    std::size_t asked = 0;
    for (const member_config& m : config_.members) {
        if (m.id == self_id_ || !m.voter())
            continue;
        tasks_.start(ask_vote(votes, m.host, bson::document{request.view()}));
        ++asked;
    }
    const time_point until = node_.now() + config_.election_timeout;
    const std::size_t needed = config_.majority();
    while (!stopping_ && term() == in_term) {
        const std::uint64_t seen = votes->changed.count();
        if (votes->yes >= needed)
            co_return true;
        if (votes->answers == asked || node_.now() >= until)
            break;
        const wait_end end = co_await votes->changed.wait(seen, until);
        if (end == wait_end::cancelled)
            break;
    }
    co_return false;
}

awaitable<void> set_member::ask_vote(std::shared_ptr<ballot> votes, std::string host,
                                     bson::document request)
{
    const auto reply = co_await call(std::move(host), std::move(request), config_.election_timeout);
    if (stopping_)
        co_return;
    if (reply && !paused_) {
        adopt_term(number_or(reply->find("term"), 0));
        if (said_ok(*reply) && flag_or(reply->find("voteGranted"), false))
            ++votes->yes;
    }
    ++votes->answers;
    votes->changed.notify();
}

vote set_member::vote_asked(const vote_request& from)
{
    if (!from.dry_run) {
        adopt_term(from.term);
        if (from.term > term())
            return {false, "no set gets as old as that term"};
    }
    const member_config* const own = self();
    const member_config* const leads = config_.by_id(primary_id_);
    const bool known = from.candidate >= 0 &&
                       static_cast<std::size_t>(from.candidate) < config_.members.size();
    const voter_state state{
        .config = config_,
        .term = term(),
        .voted_in = node_.data->voted_in(),
        .last = last(),
        .sees_primary = leads && known &&
                        leads->priority >=
                            config_.members[static_cast<std::size_t>(from.candidate)].priority,
        .arbiter = arbiter(),
    };
    if (!own || !own->voter())
        return {false, "this member has no vote"};
    vote given = decide_vote(from, state);
    if (given.granted && !from.dry_run) {
        node_.data->voted(from.term);
        put_off_election();
    }
    return given;
}

void set_member::become_primary()
{
    primary_id_ = self_id_;
    positions_.clear();
    for (const auto& [id, with] : links_)
        with->heard = node_.now();
    positions_[self_id_] = last();
    become(member_state::primary);
    const bson::document note = document_of(
        [](bson::builder& out) { out.add("msg", "new primary"); });
    const change first{.op = 'n', .ns = "", .o = note.view()};
    if (const auto at = node_.write(first))
        elected_at_ = *at;
    announce();
}

void set_member::step_down()
{
    if (state_ != member_state::primary)
        return;
    primary_id_ = -1;
    put_off_election();
    become(member_state::secondary);
    if (node_.options.version < server_version{4, 2, 0} && node_.close_connections)
        node_.close_connections(false);
}

/// Whether a majority has it, and one of those that may stand.
bool set_member::others_have(const optime& target) const
{
    std::size_t count = 0;
    bool electable = false;
    for (const member_config& m : config_.members) {
        const auto found = positions_.find(m.id);
        if (!m.has_data() || found == positions_.end() || found->second < target)
            continue;
        count += m.voter() ? 1U : 0U;
        const auto with = links_.find(m.id);
        electable = electable ||
                    (m.id != self_id_ && m.may_stand() && with != links_.end() &&
                     with->second->up && with->second->state == member_state::secondary);
    }
    return electable && count >= config_.write_majority();
}

/// After a step-down by command: whoever has everything is asked to stand now.
awaitable<void> set_member::hand_over()
{
    const time_point until = node_.now() + config_.election_timeout;
    while (!stopping_ && primary_id_ < 0 && state_ == member_state::secondary) {
        const std::uint64_t seen = applied_.count();
        const link* best = nullptr;
        for (const auto& [id, with] : links_) {
            const member_config* const m = config_.by_id(id);
            const auto reached = positions_.find(id);
            const bool ready = m && m->may_stand() && with->up && reached != positions_.end() &&
                               reached->second >= last();
            if (ready && (!best || m->priority > config_.by_id(best->id)->priority))
                best = with.get();
        }
        if (best) {
            bson::document ask = document_of([](bson::builder& out) {
                out.add("replSetStepUp", 1).add("skipDryRun", true).add("$db", "admin");
            });
            co_await call(best->host, std::move(ask), config_.election_timeout);
            co_return;
        }
        const wait_end end = co_await applied_.wait(seen, until);
        if (end != wait_end::notified)
            co_return;
    }
}

}  // namespace holdfast::lab::mongo
