// Faults of Couchbase that change who is a member. After each the cluster is whole again: every
// vbucket has all its copies, so that the next one may lose another node.
#include "runtime/wait.hpp"
#include "truth/couchbase/faults.hpp"

#include <utility>

namespace holdfast::truth {

using namespace std::chrono_literals;
using runtime::awaitable;

std::vector<int> couchbase_faults::actives() const
{
    std::vector<int> made;
    for (const std::vector<int>& row : servers_.layout(storm_bucket)->map.rows)
        made.push_back(row.front());
    return made;
}

void couchbase_faults::note_moves(const std::vector<int>& before)
{
    const std::vector<int> now = actives();
    for (std::size_t n = 0; n < now.size(); ++n)
        deeds_.moves += now[n] != before[n] ? 1 : 0;
}

void couchbase_faults::add_node()
{
    const std::string name = "n" + std::to_string(in_.members.size());
    in_.members.push_back(&in_.net.add_host(name));
    (void)servers_.add_node(storm_place(*in_.members.back())).has_value();
}

/// A rebalance breaks off when a node is lost on the way; it is begun again until it succeeds.
awaitable<void> couchbase_faults::spread(std::vector<std::size_t> out)
{
    // A vbucket that is handed over is served by no node until another one has it; that takes long
    // only if a node is lost meanwhile.
    const std::size_t movement = disturb(service_record::every_node);
    for (;;) {
        const std::vector<int> before = actives();
        const auto done = co_await servers_.rebalance(out, 16);
        note_moves(before);
        if (done)
            break;
        record("the rebalance broke off: " + done.error().message());
        co_await runtime::sleep_until(in_.control->world(), in_.net.now() + 500ms);
    }
    calm(movement);
    record("the cluster is balanced");
    moving_ = false;
    has_ended();
}

awaitable<void> couchbase_faults::replace_later(duration wait, std::size_t lost)
{
    co_await runtime::sleep_until(in_.control->world(), in_.net.now() + wait);
    bring_back(lost);
    calm(loss_);
    add_node();
    record("n" + std::to_string(in_.members.size() - 1) + " takes the place of n" +
           std::to_string(lost));
    std::vector<std::size_t> none;
    co_await spread(std::move(none));
}

bool couchbase_faults::hard_failover()
{
    // What a majority has survives the loss of one node, not of two.
    const int drawn = victim();
    if (moving_ || drawn < 0 || !all_run())
        return false;
    const auto n = static_cast<std::size_t>(drawn);
    const std::uint64_t state = in_.below(4);
    constexpr const char* states[] = {"well", "deaf", "gone", "frozen"};
    record("n" + std::to_string(n) + ", which is " + states[state] + ", is failed over");
    moving_ = losing_ = true;
    begins_to_last();
    loss_ = disturb(n);
    if (state == 1)
        servers_.hold_configuration(n, true);
    if (state >= 2)
        ill_.insert(n);
    if (state == 2) {
        in_.members[n]->crash(in_.below(2) == 0);
        servers_.lost(n);
    }
    if (state == 3)
        in_.members[n]->freeze();
    const std::vector<int> before = actives();
    in_.net.at_time(in_.net.now() + in_.between(0, 800), [this, n, state, before] {
        deeds_.replicas_promoted = true;
        deeds_.stale_reads = deeds_.stale_reads || state == 1;
        (void)servers_.fail_over(n).has_value();
        note_moves(before);
        losing_ = false;
        in_.control->start(replace_later(in_.between(200, 2000), n));
    });
    return true;
}

awaitable<void> couchbase_faults::hand_over(std::size_t leaving)
{
    const std::size_t movement = disturb(service_record::every_node);
    for (;;) {
        const std::vector<int> before = actives();
        const auto done = co_await servers_.fail_over_gracefully(leaving);
        note_moves(before);
        if (done)
            break;
        record("the graceful failover broke off: " + done.error().message());
        co_await runtime::sleep_until(in_.control->world(), in_.net.now() + 500ms);
    }
    calm(movement);
    record("n" + std::to_string(leaving) + " was failed over gracefully");
    const duration wait = in_.between(100, 1000);
    co_await replace_later(wait, leaving);
}

bool couchbase_faults::graceful_failover()
{
    const int drawn = victim();
    if (moving_ || drawn < 0 || !all_run())
        return false;
    const auto n = static_cast<std::size_t>(drawn);
    record("n" + std::to_string(n) + " is to be failed over gracefully");
    moving_ = true;
    begins_to_last();
    loss_ = disturb(n);
    in_.control->start(hand_over(n));
    return true;
}

awaitable<void> couchbase_faults::join()
{
    add_node();
    std::vector<std::size_t> none;
    co_await spread(std::move(none));
}

bool couchbase_faults::rebalance_in()
{
    if (moving_ || members().size() >= 5)
        return false;
    record("n" + std::to_string(in_.members.size()) + " joins");
    moving_ = true;
    begins_to_last();
    in_.control->start(join());
    return true;
}

awaitable<void> couchbase_faults::leave(std::size_t leaving)
{
    std::vector<std::size_t> out{leaving};
    co_await spread(std::move(out));
}

bool couchbase_faults::rebalance_out()
{
    const int drawn = victim();
    if (moving_ || drawn < 0 || members().size() <= replicas_ + 1)
        return false;
    record("n" + std::to_string(drawn) + " leaves");
    moving_ = true;
    begins_to_last();
    in_.control->start(leave(static_cast<std::size_t>(drawn)));
    return true;
}

}  // namespace holdfast::truth
