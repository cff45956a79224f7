#pragma once
#include "holdfast/error.hpp"
#include "lab/mongo/data/optime.hpp"
#include "lab/mongo/set/config.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace holdfast::lab::mongo {

/// What a candidate says of itself.
struct vote_request {
    std::string set = {};
    bool dry_run = false;
    std::int64_t term = 0;
    std::int32_t candidate = -1;  // its place among the members
    std::int64_t config_version = 0;
    std::int64_t config_term = -1;
    optime last = {};
};

/// What a voter knows when it is asked.
struct voter_state {
    const set_config& config;
    std::int64_t term = 0;  // after it has heard the candidate's, unless this is a dry run
    std::optional<std::int64_t> voted_in = {};
    optime last = {};
    bool sees_primary = false;  // a live one, at least as important as the candidate
    bool arbiter = false;
};

struct vote {
    bool granted = false;
    std::string reason = {};
};

/// One vote a term, only for a candidate that has all that the voter has. A dry run asks what would
/// be.
vote decide_vote(const vote_request& from, const voter_state& own);

/// When a member stands that has not heard of a primary: the timeout and up to 15 % of it, so that
/// two rarely stand together; `chance` in [0, 1).
duration election_delay(const set_config& config, double chance) noexcept;

/// Those before whose time a majority, the primary itself among it, was last heard of.
time_point majority_heard(const set_config& config, std::int32_t self, time_point now,
                          std::span<const std::pair<std::int32_t, time_point>> heard);

}  // namespace holdfast::lab::mongo
