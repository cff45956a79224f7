// Random use of the table of requests in flight, beside a model that remembers everything: each
// waiter ends exactly once, and no slot is used again while its reply may come.
#include "check.hpp"
#include "choices.hpp"
#include "core/couchbase/inflight/inflight_table.hpp"

#include <map>
#include <vector>

namespace holdfast::property::couchbase_inflight_test {
namespace {

using namespace core::couchbase;
using std::chrono::milliseconds;
using table = inflight_table<int>;

constexpr std::uint32_t slot_count = 8;

class random_connection {
public:
    explicit random_connection(std::span<const std::uint8_t> bytes) : c_{bytes}
    {
        while (!c_.used_up()) {
            step();
            check_rules();
        }
        table_.end([this](const table::request& r) { end_waiter(r); });
        for (const auto& [opaque, r] : requests_)
            RC_ASSERT(r.is_abandoned || r.has_ended);
        RC_ASSERT(table_.available() == slot_count && table_.abandoned() == 0U);
    }

private:
    struct sent {
        int waiter = 0;  // only its address counts
        kv_opcode opcode = kv_opcode::get;
        time_point deadline = time_point::max();
        bool is_abandoned = false;
        bool has_ended = false;
        time_point stuck_at = time_point::max();
    };

    void step()
    {
        now_ += milliseconds{c_.below(400)};
        switch (c_.below(8)) {
        case 0:
        case 1:
        case 2:
            take();
            break;
        case 3:
        case 4:
            answer();
            break;
        case 5:
            abandon();
            break;
        case 6:
            answer_nothing();
            break;
        default:
            ring();
            break;
        }
    }

    void take()
    {
        auto fresh = std::make_unique<sent>();
        fresh->opcode = c_.one_in(2) ? kv_opcode::get : kv_opcode::upsert;
        if (!c_.one_in(4))
            fresh->deadline = now_ + milliseconds{c_.below(5000)};
        const time_point before = table_.due();
        const auto taken = table_.take({&fresh->waiter, fresh->opcode,
                                        fresh->opcode == kv_opcode::get, std::nullopt,
                                        fresh->deadline});
        RC_ASSERT(taken.has_value() == (in_flight_.size() < slot_count));
        if (!taken)
            return;
        RC_ASSERT(!requests_.contains(taken->opaque));
        for (const std::uint32_t other : in_flight_)
            RC_ASSERT(other % slot_count != taken->opaque % slot_count);
        RC_ASSERT(taken->is_due_first == (fresh->deadline < before));
        in_flight_.push_back(taken->opaque);
        requests_.emplace(taken->opaque, *fresh);
        waiters_.emplace(&fresh->waiter, taken->opaque);
        kept_.push_back(std::move(fresh));
    }

    void answer()
    {
        if (in_flight_.empty())
            return;
        const std::size_t at = c_.below(in_flight_.size());
        const std::uint32_t opaque = in_flight_[at];
        sent& r = requests_.at(opaque);
        if (c_.one_in(8)) {
            const auto wrong = table_.complete(opaque, kv_opcode::noop);
            RC_ASSERT(wrong.kind == table::answer::wrong_opcode);
            return;
        }
        const auto done = table_.complete(opaque, r.opcode);
        RC_ASSERT(done.kind ==
                  (r.is_abandoned ? table::answer::to_orphan : table::answer::to_waiter));
        if (r.is_abandoned)
            RC_ASSERT(done.what.waiter == nullptr);
        else
            end_waiter(done.what);
        in_flight_.erase(in_flight_.begin() + static_cast<std::ptrdiff_t>(at));
    }

    /// A reply that comes twice, or that is made up.
    void answer_nothing()
    {
        const bool old = !requests_.empty() && c_.one_in(2);
        std::uint32_t opaque = static_cast<std::uint32_t>(c_.scattered());
        if (old)
            opaque = std::next(requests_.begin(),
                               static_cast<std::ptrdiff_t>(c_.below(requests_.size())))
                         ->first;
        if (std::ranges::find(in_flight_, opaque) != in_flight_.end())
            return;
        RC_ASSERT(table_.complete(opaque, kv_opcode::get).kind == table::answer::foreign);
        RC_ASSERT(!table_.abandon(opaque, now_) && !table_.release(opaque) && !table_.find(opaque));
    }

    void abandon()
    {
        if (in_flight_.empty())
            return;
        const std::uint32_t opaque = in_flight_[c_.below(in_flight_.size())];
        sent& r = requests_.at(opaque);
        const auto gone = table_.abandon(opaque, now_);
        RC_ASSERT(gone.has_value() == !r.is_abandoned);
        if (!gone)
            return;
        RC_ASSERT(waiters_.at(gone->waiter) == opaque && !r.has_ended);
        give_up(r);
    }

    void ring()
    {
        table_.expire(now_, [this](const table::request& expired) {
            sent& r = requests_.at(waiters_.at(expired.waiter));
            RC_ASSERT(r.deadline <= now_ && !r.is_abandoned && !r.has_ended);
            give_up(r);
        });
        for (const std::uint32_t opaque : in_flight_) {
            const sent& r = requests_.at(opaque);
            RC_ASSERT(r.is_abandoned || r.deadline > now_);
        }
    }

    void give_up(sent& r)
    {
        r.is_abandoned = r.has_ended = true;
        r.stuck_at = now_ + std::chrono::seconds{10};
    }

    void end_waiter(const table::request& what)
    {
        sent& r = requests_.at(waiters_.at(what.waiter));
        RC_ASSERT(!r.has_ended && what.opcode == r.opcode);
        r.has_ended = true;
    }

    void check_rules()
    {
        std::size_t abandoned = 0;
        bool late = false;
        for (const std::uint32_t opaque : in_flight_) {
            const sent& r = requests_.at(opaque);
            abandoned += r.is_abandoned;
            late = late || (r.is_abandoned && r.stuck_at <= now_);
            const time_point due = r.is_abandoned ? r.stuck_at : r.deadline;
            RC_ASSERT(due <= now_ || table_.due() <= due);  // the alarm is never too late
        }
        RC_ASSERT(table_.abandoned() == abandoned);
        RC_ASSERT(table_.waiting() == in_flight_.size() - abandoned);
        RC_ASSERT(table_.available() == slot_count - in_flight_.size());
        RC_ASSERT(table_.is_stuck(now_) == (late || abandoned * 4 > slot_count));
    }

    choices c_;
    table table_{{.slots = slot_count}};
    time_point now_{std::chrono::hours{1}};
    std::vector<std::uint32_t> in_flight_;
    std::map<std::uint32_t, sent> requests_;
    std::map<const void*, std::uint32_t> waiters_;  // looked up, never walked
    std::vector<std::unique_ptr<sent>> kept_;
};

TEST(couchbase_inflight, random_use_keeps_the_rules_of_the_table)
{
    check([] {
        const auto bytes = *any_choices();
        random_connection{bytes};
    });
}

}  // namespace
}  // namespace holdfast::property::couchbase_inflight_test
