#include "lab/mongo/set/commit_progress.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::lab::mongo {

bool commit_progress::is_met(const optime& wrote, const write_concern& concern) const
{
    return mongo::is_met(role_.config(), positions_, committed_, wrote, concern);
}

void commit_progress::restart()
{
    positions_.clear();
    positions_[role_.self_id()] = role_.last();
}

void commit_progress::raise_position(std::int32_t id, const optime& at)
{
    optime& known = positions_[id];
    known = std::max(known, at);
}

void commit_progress::wrote(const optime& at)
{
    positions_[role_.self_id()] = at;
    if (role_.config().write_majority() <= 1)
        update();
}

void commit_progress::update()
{
    if (!role_.primary())
        return;
    const optime reached = commit_point(role_.config(), positions_, role_.term(), committed_);
    if (reached <= committed_)
        return;
    advance_to(reached);
    if (!std::exchange(unannounced_, true))
        context_.changed.notify();  // the next heartbeats carry it, and are due sooner
}

/// Entries of the primary's own term are on one branch of the oplog only: an own optime of that
/// term shows that this member has all before it, so that its part of it is committed here too.
void commit_progress::learn(const optime& from_primary)
{
    learned_ = std::max(learned_, from_primary);
    const optime own = role_.last();
    if (role_.primary() || learned_.term != own.term)
        return;
    const optime reached = std::min(learned_, own);
    if (reached > committed_)
        advance_to(reached);
}

void commit_progress::applied()
{
    context_.node.saw_cluster_time(role_.last().ts);
    learn(learned_);
    context_.node.forget_history();
    context_.progress.notify();
    context_.node.news.notify();
}

void commit_progress::advance_to(const optime& reached)
{
    committed_ = reached;
    context_.node.news.notify();
}

}  // namespace holdfast::lab::mongo
