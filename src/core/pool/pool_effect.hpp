#pragma once
#include "core/pool/pool_event.hpp"
#include "holdfast/error.hpp"
#include "holdfast/id.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace holdfast::core {

/// One caller that waits for a connection.
using checkout_id = strong_id<struct checkout_id_tag, std::uint64_t>;

// What the shell has to do.

struct open_connection {  // then report opened() or open_failed()
    connection_id id;
    std::uint32_t generation;
};
struct close_connection {  // idle, or while it is opening
    connection_id id;
    close_reason reason;
};
struct interrupt_connection {  // fail what its user is doing; the user checks it in, broken
    connection_id id;
};
struct hand_out {
    checkout_id to;
    connection_id connection;
};
struct refuse {
    checkout_id who;
    checkout_failure why;
    std::optional<error> cause;  // why no connection could be had; none if the caller gave up
};
struct wake_up {  // call woke() at this time; there is at most one at a time
    time_point at;
};
using pool_effect = std::variant<open_connection, close_connection, interrupt_connection, hand_out,
                                 refuse, wake_up>;

/// What a pool has decided since the shell looked last: effects to carry out, events to report.
class pool_outbox {
public:
    explicit pool_outbox(bool with_events) noexcept : with_events_{with_events} {}

    std::vector<pool_effect> take_effects() { return std::exchange(effects_, {}); }
    std::vector<pool_event> take_events() { return std::exchange(events_, {}); }
    bool has_effects() const noexcept { return !effects_.empty(); }

    template <class Effect>
    void perform(Effect effect)
    {
        effects_.emplace_back(std::in_place_type<Effect>, std::move(effect));
    }
    template <class Event>
    void emit(Event event)
    {
        if (with_events_)
            events_.emplace_back(std::in_place_type<Event>, std::move(event));
    }

private:
    bool with_events_;
    std::vector<pool_effect> effects_;
    std::vector<pool_event> events_;
};

}  // namespace holdfast::core
