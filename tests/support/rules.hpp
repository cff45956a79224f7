#pragma once
#include "support/recorder.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace holdfast::proof {

struct rule_limits {
    std::size_t pool = 100;  // maxPoolSize
    std::size_t connecting = 2;  // maxConnecting
    bool closed = true;  // the client was closed, so nothing may be left open
};

/// What the events of one client must keep, whatever happens to it. One sentence per offence:
///
///   - each command that starts ends once, over a connection that is checked out; all attempts of
///     one write carry the same session and number; a connection goes back when its reply is there
///   - a connection is created, ready, checked out and in by turns, closed; no more than the
///     limits; none is handed out by a paused pool, nor one that was made before its pool was
///     cleared, nor one whose last command broke it
///   - a server that is lost by a network error and the clearing of its pool are one change
///   - the topology opens first and closes last; every change begins where the last one ended;
///     there is one primary at most
///   - each heartbeat that starts ends once, before the next one starts
std::vector<std::string> broken_rules(const std::vector<record>& received, rule_limits limits = {});

/// One line per rule broken; empty if none is.
std::string complaints(const recorder& of, time_point since, rule_limits limits = {});

}  // namespace holdfast::proof
