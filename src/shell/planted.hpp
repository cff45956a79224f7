#pragma once

namespace holdfast::shell {

/// Defects that tests plant, to see that their checkers report them. In the library all of them are
/// constants, false, and leave no trace in the code; the program planted_tests is compiled with
/// HOLDFAST_PLANTED and can switch them on.
struct planted_defects {
    bool clears_pool_later = false;  // outside the critical section of the topology's change
    bool reuses_dirty_connections = false;
    bool drops_events = false;
    bool renumbers_retries = false;
    bool holds_connection_while_waiting = false;

    // Of the Couchbase client.
    bool reuses_opaques = false;  // of requests that have timed out
    bool takes_old_configurations = false;
    bool repeats_after_cut = false;  // also what may not be repeated
    bool ignores_deadline_after_wait = false;
    bool keeps_collection_ids = false;  // that servers do not know any more
    bool trusts_any_server = false;  // whether it proves that it knows the password or not
    bool keeps_slots = false;  // of requests that were answered
    bool oversleeps = false;  // before an attempt is made again
    bool forgives_failures = false;  // to the circuit breaker they are successes
};

#ifdef HOLDFAST_PLANTED
extern planted_defects planted;
#else
inline constexpr planted_defects planted{};
#endif

}  // namespace holdfast::shell
