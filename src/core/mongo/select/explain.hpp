#pragma once
#include "core/mongo/select/suitable.hpp"

#include <map>
#include <string>
#include <vector>

namespace holdfast::core::mongo {

/// Why one server did not serve: its type, its tags, its staleness, or why it is not known at all.
struct refusal {
    endpoint server;
    std::string why;
};

/// Connection attempts of monitors that no server has answered yet, and how long one may take.
struct running_checks {
    std::map<endpoint, time_point> began = {};
    duration limit{};  // 0: none
};

/// One line for each server of a topology in which nothing was suitable.
std::vector<refusal> explain_no_match(const topology_description& t,
                                      const selection_request& request,
                                      const selection_settings& settings, time_point now,
                                      const running_checks& running = {});

/// The text of a selection that found nothing in time: what was wanted, what the topology is, and
/// each server with its last error and how old that is.
std::string describe_no_match(const topology_description& t, const selection_request& request,
                              const selection_settings& settings, time_point now,
                              const running_checks& running = {});

/// "250 ms", "1.5 s", "10 s"
std::string short_text(duration time);

}  // namespace holdfast::core::mongo
