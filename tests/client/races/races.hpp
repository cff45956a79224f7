#pragma once
#include "support/scene.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::proof {

/// What one seed of a race came to.
struct race_report {
    std::string complaints = {};  // empty: all is well
    bool raced = false;  // what the race is about did happen under this seed
};

/// One of the races that the specification of server discovery gives as the reason for its rules,
/// or that follow from them, end to end: a client, scripted servers, and delays by chance.
struct race {
    const char* name;
    race_report (*run)(std::uint64_t seed);
};

/// Two writes are under way when a server restarts. The error of the first loses the server, a
/// check finds it again, and only then comes the error of the second, which is old news.
race_report old_network_errors(std::uint64_t seed);

/// A server restarts. Losing it and clearing its pool are one change, so no checkout waits in a
/// pool that is about to be cleared, and none stays paused although its server is known.
race_report lost_and_cleared_together(std::uint64_t seed);

/// A primary steps down. Its errors come late, after a check has found the secondary.
race_report old_state_change_errors(std::uint64_t seed);

/// An old server says on many connections at once that it is no primary: its pool is cleared once,
/// and it is checked again once.
race_report many_state_change_errors(std::uint64_t seed);

/// An old primary goes on calling itself one while a new one is known.
race_report stale_primary(std::uint64_t seed);

/// A server is taken out of the set while operations are under way on it.
race_report removed_in_flight(std::uint64_t seed);

/// Replies come after their operations have ended.
race_report late_replies(std::uint64_t seed);

/// Writes meet broken connections, elections and errors of all kinds, before and after they were
/// applied.
race_report repeated_writes(std::uint64_t seed);

/// Overloaded servers refuse commands, and there is one connection for all of them.
race_report refused_commands(std::uint64_t seed);

/// Everything at once: restarts, elections, delays, time limits, cancellations.
race_report storm(std::uint64_t seed);

const std::vector<race>& all_races();

/// Chance, from the seed of a scene.
class dice {
public:
    explicit dice(sim::simulation& of) : of_{of} {}
    duration up_to(duration most)
    {
        return std::chrono::duration_cast<duration>(most * of_.chance());
    }
    std::size_t below(std::size_t limit) { return of_.random() % limit; }
    bool roll(double probability) { return of_.chance() < probability; }

private:
    sim::simulation& of_;
};

/// How often a server went from known to Unknown.
std::size_t times_lost(const recorder& events, std::string_view server);

/// Closes the client, and adds all rules broken, and operations that did not end once.
void conclude(scene& s, race_report& report, rule_limits limits = {});

}  // namespace holdfast::proof
