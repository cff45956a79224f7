// Random use of a pool: no limit is broken, no checkout is forgotten, no connection has two users.
#include "check.hpp"
#include "choices.hpp"
#include "core/pool/errc.hpp"
#include "core/pool/pool.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <set>

namespace holdfast::property::pool_property_test {
namespace {

using namespace core;
using std::chrono::milliseconds;

const error trouble{pool_errc::cleared, "trouble"};

class random_use {
public:
    explicit random_use(std::span<const std::uint8_t> bytes)
        : c_{bytes}, settings_{any_settings()}, pool_{settings_}
    {
        while (!c_.used_up())
            step();
        finish();
    }

private:
    pool_settings any_settings()
    {
        pool_settings s;
        s.max_size = static_cast<std::uint32_t>(1 + c_.below(4));
        s.min_size = static_cast<std::uint32_t>(c_.below(3));
        s.max_connecting = static_cast<std::uint32_t>(1 + c_.below(2));
        s.max_idle = milliseconds{c_.one_in(2) ? 0 : 50};
        return s;
    }

    void step()
    {
        pass_time(milliseconds{c_.below(20)});
        switch (c_.below(16)) {
        case 0:
        case 1:
        case 2:
            queue_up();
            break;
        case 3:
            if (const auto id = pool_.check_out_now(now_)) {
                RC_ASSERT(waiting_.empty());
                take(*id);
            }
            break;
        case 4:
        case 5:
        case 6:
            if (!opening_.empty())
                open_one(any_of(opening_));
            break;
        case 7:
            if (!opening_.empty()) {
                const connection_id id = any_of(opening_);
                opening_.erase(id);
                pool_.open_failed(id, trouble, now_);
            }
            break;
        case 8:
        case 9:
        case 10:
            if (!used_.empty())
                give_back(any_of(used_), c_.one_in(4));
            break;
        case 11:
            if (!waiting_.empty())
                pool_.cancel(waiting_[c_.below(waiting_.size())], checkout_failure::timeout, now_);
            break;
        case 12:
            pool_.clear(trouble, std::nullopt, c_.one_in(3), now_);
            break;
        case 13:
        case 14:
            pool_.mark_ready(now_);
            break;
        default:
            pool_.maintain(now_);
        }
        settle();
    }

    void pass_time(duration length)
    {
        now_ += length;
        if (!wake_at_ || now_ < *wake_at_)
            return;
        wake_at_.reset();
        pool_.woke(now_);
        settle();
    }

    /// The server works again and all checkouts are returned: then no checkout is left waiting.
    void finish()
    {
        pool_.mark_ready(now_);
        settle();
        if (connects_hang_)
            let_connects_hang();
        for (int rounds = 0; rounds < 1000 && pool_.waiting() > 0; ++rounds) {
            RC_ASSERT(!opening_.empty() || !used_.empty());  // else there is nothing to wait for
            if (!opening_.empty())
                open_one(*opening_.begin());
            else
                give_back(*used_.begin(), false);
            settle();
        }
        RC_ASSERT(waiting_.empty() && pool_.waiting() == 0u);
        pool_.close(now_);
        settle();
        while (!used_.empty())
            give_back(*used_.begin(), false);
        settle();
        RC_ASSERT(pool_.total() == 0u && open_.empty());
    }

    /// No connect ends: then time alone makes the pool use all that its limits allow, if it started
    /// slowly; else each checkout has a connect of its own.
    void let_connects_hang()
    {
        queue_up();
        settle();
        for (std::uint32_t i = 0; i <= settings_.max_connecting; ++i)
            pass_time(std::chrono::seconds{1});
        const bool all_begun = pool_.opening() == settings_.max_connecting ||
                               pool_.total() == settings_.max_size;
        RC_ASSERT(waiting_.empty() || all_begun || opening_.size() >= waiting_.size());
    }

    void queue_up()
    {
        const checkout_id who{++last_};
        waiting_.push_back(who);
        pool_.check_out(who, now_);
    }

    void open_one(connection_id id)
    {
        opening_.erase(id);
        pool_.opened(id, std::nullopt, now_);
    }

    void take(connection_id id)
    {
        RC_ASSERT(open_.contains(id) && !opening_.contains(id));
        RC_ASSERT(used_.insert(id).second);  // one connection, one user
    }

    void give_back(connection_id id, bool broken)
    {
        used_.erase(id);
        pool_.check_in(id, broken, now_);
    }

    connection_id any_of(const std::set<connection_id>& some)
    {
        auto at = some.begin();
        std::advance(at, static_cast<std::ptrdiff_t>(c_.below(some.size())));
        return *at;
    }

    void settle()
    {
        do
            for (const pool_effect& e : pool_.take_effects())
                std::visit([this](const auto& one) { carry_out(one); }, e);
        while (pool_.has_effects());
        RC_ASSERT(pool_.total() <= settings_.max_size);
        RC_ASSERT(pool_.opening() <= settings_.max_connecting);
        RC_ASSERT(pool_.total() == open_.size() && pool_.opening() == opening_.size());
        RC_ASSERT(pool_.in_use() == used_.size() && pool_.waiting() == waiting_.size());
        RC_ASSERT(pool_.current() == connection_pool::state::ready || waiting_.empty());
        RC_ASSERT(waiting_.empty() || pool_.idle() == 0u);
        RC_ASSERT(pool_.current() == connection_pool::state::ready || pool_.idle() == 0u);
        RC_ASSERT(pool_.current() == connection_pool::state::ready || opening_.empty());
        const bool limited = pool_.total() == settings_.max_size ||
                             pool_.opening() == settings_.max_connecting;
        RC_ASSERT(limited || opening_.size() >= waiting_.size() || wake_at_);  // time will help
    }

    void carry_out(const open_connection& e)
    {
        RC_ASSERT(e.generation == pool_.generation());
        RC_ASSERT(open_.insert(e.id).second && opening_.insert(e.id).second);
    }
    void carry_out(const close_connection& e)
    {
        RC_ASSERT(open_.erase(e.id) == 1u);
        RC_ASSERT(!used_.contains(e.id));
        opening_.erase(e.id);
    }
    void carry_out(const interrupt_connection& e)
    {
        RC_ASSERT(used_.contains(e.id));
        give_back(e.id, true);
    }
    void carry_out(const hand_out& e)
    {
        RC_ASSERT(!waiting_.empty() && waiting_.front() == e.to);  // in the order of arrival
        waiting_.pop_front();
        take(e.connection);
    }
    void carry_out(const refuse& e)
    {
        RC_ASSERT(std::erase(waiting_, e.who) == 1u);  // each is answered once
    }
    void carry_out(const wake_up& e)
    {
        RC_ASSERT(!wake_at_ && e.at > now_);  // one at a time
        wake_at_ = e.at;
    }

    choices c_;
    pool_settings settings_;
    bool connects_hang_ = c_.one_in(2);  // at the end
    connection_pool pool_;
    time_point now_{std::chrono::hours{1}};
    std::optional<time_point> wake_at_;
    std::uint64_t last_ = 0;
    std::deque<checkout_id> waiting_;
    std::set<connection_id> open_, opening_, used_;
};

TEST(pool_property, random_use_keeps_limits_and_answers_each_checkout_once)
{
    check([] { random_use{*any_choices()}; });
}

}  // namespace
}  // namespace holdfast::property::pool_property_test
