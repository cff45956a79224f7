#pragma once
#include "core/couchbase/wire/kv_protocol.hpp"
#include "holdfast/error.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace holdfast::core::couchbase {

struct inflight_limits {
    std::uint32_t slots = 1024;  // a power of two, 4 to 65,536
    /// A reply that has not come so long after its request was given up means that the peer
    /// is stuck.
    duration stuck_after = std::chrono::seconds{10};
};

/// What a table has seen so far.
struct inflight_counters {
    std::uint64_t taken = 0;
    std::uint64_t completed = 0;
    std::uint64_t abandoned = 0;
    std::uint64_t orphans = 0;  // replies to what was abandoned
    std::uint64_t foreign = 0;  // replies to nothing
};

/// The requests that a connection has sent and that are not answered, each in a slot of its own.
/// An opaque is a sequence number and a slot, so a reply finds its request without a search, and
/// one that is late or forged is recognised because the sequence differs. Nothing is allocated per
/// request: the waiter belongs to the operation.
///
/// One alarm serves them all: it is set to due(), and expire() is called when it rings. A reply
/// does not move it, so that it rings at most once too often per timeout.
template <class Waiter>
class inflight_table {
public:
    static constexpr std::uint32_t min_slots = 4;
    static constexpr std::uint32_t max_slots = 65'536;
    /// Smaller ones belong to the bootstrap of the connection.
    static constexpr std::uint32_t first_opaque = 1024;

    explicit inflight_table(inflight_limits limits = {}) : limits_{limits}
    {
        assert(std::has_single_bit(limits.slots));
        assert(limits.slots >= min_slots && limits.slots <= max_slots);
        slots_.resize(limits.slots);
        free_.reserve(limits.slots);
        for (std::uint32_t i = limits.slots; i > 0; --i)
            free_.push_back(i - 1);
        bits_ = std::countr_zero(limits.slots);
        sequence_ = first_sequence();
    }

    struct request {
        Waiter* waiter = nullptr;
        kv_opcode opcode = kv_opcode::noop;
        bool idempotent = false;
        std::optional<std::uint16_t> vbucket = {};  // whose active node has to answer
        time_point deadline = time_point::max();
    };

    /// The slot that take() would reserve now; nothing if none is free.
    std::optional<std::uint32_t> next_slot() const noexcept
    {
        return free_.empty() ? std::nullopt : std::optional{free_.back()};
    }
    std::uint32_t slot_of(std::uint32_t opaque) const noexcept
    {
        return opaque & (limits_.slots - 1);
    }

    struct taken {
        std::uint32_t opaque;
        bool is_due_first;  // the alarm must be moved to due()
    };
    /// Reserves a slot; nothing if none is free.
    std::optional<taken> take(const request& what) noexcept
    {
        if (free_.empty()) [[unlikely]]
            return std::nullopt;
        const std::uint32_t index = free_.back();
        free_.pop_back();
        slot& s = slots_[index];
        s.opaque = sequence_ << bits_ | index;
        s.state = slot_state::waiting;
        s.what = what;
        if (++sequence_ > last_sequence()) [[unlikely]]
            sequence_ = first_sequence();
        ++counters_.taken;
        return taken{s.opaque, set_due(what.deadline)};
    }

    enum class answer : std::uint8_t {
        to_waiter,
        to_orphan,     // its request was abandoned; the slot is free again
        foreign,       // it answers nothing that is in flight
        wrong_opcode,  // it answers another command than was sent: the peer is broken
    };
    struct completed {
        answer kind = answer::foreign;
        request what = {};  // of the request; without a waiter if that has gone
    };
    /// Takes a reply in: the slot becomes free, unless the reply is foreign or wrong.
    completed complete(std::uint32_t opaque, kv_opcode opcode) noexcept
    {
        slot* const s = find_slot(opaque);
        if (!s) {
            ++counters_.foreign;
            return {};
        }
        if (s->what.opcode != opcode)
            return {answer::wrong_opcode, s->what};
        const completed found{
            s->state == slot_state::waiting ? answer::to_waiter : answer::to_orphan, s->what};
        if (s->state == slot_state::abandoned) {
            --abandoned_;
            ++counters_.orphans;
        } else {
            ++counters_.completed;
        }
        free_slot(*s);
        return found;
    }

    /// The request, if it is in flight and has a waiter.
    const request* find(std::uint32_t opaque) const noexcept
    {
        const slot& s = slots_[opaque & (limits_.slots - 1)];
        return s.opaque == opaque && s.state == slot_state::waiting ? &s.what : nullptr;
    }

    /// Whether its reply may still come, for no waiter.
    bool is_abandoned(std::uint32_t opaque) const noexcept
    {
        const slot& s = slots_[slot_of(opaque)];
        return s.opaque == opaque && s.state == slot_state::abandoned;
    }

    struct abandoned_request {
        Waiter* waiter;
        bool is_due_first;  // the alarm must be moved to due()
    };
    /// The waiter goes, by cancellation or timeout; the slot stays reserved until the reply comes
    /// or the connection ends. Nothing if there is no such waiter any more.
    std::optional<abandoned_request> abandon(std::uint32_t opaque, time_point now) noexcept
    {
        slot* const s = find_slot(opaque);
        if (!s || s->state != slot_state::waiting)
            return std::nullopt;
        Waiter* const waiter = s->what.waiter;
        orphan(*s, now);
        return abandoned_request{waiter, set_due(s->what.deadline)};
    }

    /// For a request of which not a byte has left: no reply can come. False if it is not in flight.
    bool release(std::uint32_t opaque) noexcept
    {
        slot* const s = find_slot(opaque);
        if (!s || s->state != slot_state::waiting)
            return false;
        free_slot(*s);
        return true;
    }

    /// When expire() must be called next; never later than needed, and time_point::max() if there
    /// is nothing to wait for.
    time_point due() const noexcept { return due_; }

    /// Abandons each request whose deadline has come, and calls `each(const request&)`, which must
    /// leave this table alone. Then due() is exact.
    template <class Each>
    void expire(time_point now, Each&& each)
    {
        due_ = time_point::max();
        for (slot& s : slots_) {
            if (s.state == slot_state::waiting && s.what.deadline <= now) {
                const request expired = s.what;
                orphan(s, now);
                each(expired);
            }
            // What is stuck has been reported by is_stuck(), and needs no further alarm.
            const bool is_stuck = s.state == slot_state::abandoned && s.what.deadline <= now;
            if (s.state != slot_state::free && !is_stuck)
                due_ = std::min(due_, s.what.deadline);
        }
    }

    /// Whether the peer has stopped to answer: more than a quarter of the slots are abandoned, or
    /// one has been for too long. The connection is then to be closed.
    bool is_stuck(time_point now) const noexcept
    {
        if (abandoned_ * 4 > limits_.slots)
            return true;
        return abandoned_ != 0 && std::ranges::any_of(slots_, [now](const slot& s) {
                   return s.state == slot_state::abandoned && s.what.deadline <= now;
               });
    }

    /// Calls `each(opaque, const request&)` for all that have a waiter.
    template <class Each>
    void each_waiting(Each&& each) const
    {
        for (const slot& s : slots_) {
            if (s.state == slot_state::waiting)
                each(s.opaque, s.what);
        }
    }

    /// The connection is over: calls `each(const request&)` for all that had a waiter, and is empty
    /// afterwards.
    template <class Each>
    void end(Each&& each)
    {
        for (slot& s : slots_) {
            const slot_state was = s.state;
            if (was == slot_state::free)
                continue;
            const request ended = s.what;
            free_slot(s);
            if (was == slot_state::waiting)
                each(ended);
        }
        abandoned_ = 0;
        due_ = time_point::max();
    }

    std::size_t capacity() const noexcept { return limits_.slots; }
    std::size_t available() const noexcept { return free_.size(); }
    std::size_t abandoned() const noexcept { return abandoned_; }
    std::size_t waiting() const noexcept { return limits_.slots - free_.size() - abandoned_; }
    const inflight_counters& counters() const noexcept { return counters_; }

private:
    enum class slot_state : std::uint8_t { free, waiting, abandoned };
    struct slot {
        request what = {};  // of what was abandoned, `deadline` is when the peer counts as stuck
        std::uint32_t opaque = 0;
        slot_state state = slot_state::free;
    };

    std::uint32_t first_sequence() const noexcept
    {
        return std::max(first_opaque >> bits_, std::uint32_t{1});
    }
    std::uint32_t last_sequence() const noexcept { return ~std::uint32_t{0} >> bits_; }

    slot* find_slot(std::uint32_t opaque) noexcept
    {
        slot& s = slots_[opaque & (limits_.slots - 1)];
        return s.opaque == opaque && s.state != slot_state::free ? &s : nullptr;
    }

    void free_slot(slot& s) noexcept
    {
        s.state = slot_state::free;
        s.what.waiter = nullptr;
        free_.push_back(s.opaque & (limits_.slots - 1));  // there is room: it was reserved
    }

    void orphan(slot& s, time_point now) noexcept
    {
        s.state = slot_state::abandoned;
        s.what.waiter = nullptr;
        const bool is_far = limits_.stuck_after >= time_point::max() - now;
        s.what.deadline = is_far ? time_point::max() : now + limits_.stuck_after;
        ++abandoned_;
        ++counters_.abandoned;
    }

    bool set_due(time_point when) noexcept
    {
        if (when >= due_)
            return false;
        due_ = when;
        return true;
    }

    inflight_limits limits_;
    int bits_ = 0;
    std::uint32_t sequence_ = 1;
    std::uint32_t abandoned_ = 0;
    time_point due_ = time_point::max();
    std::vector<slot> slots_;
    std::vector<std::uint32_t> free_;  // a stack, so that the slots in use stay in the cache
    inflight_counters counters_;
};

}  // namespace holdfast::core::couchbase
