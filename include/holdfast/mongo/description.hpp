#pragma once
#include "holdfast/error.hpp"
#include "holdfast/id.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::mongo {

/// A client's last known state of one server. Names of types are those of the drivers'
/// specification: "RSPrimary", "Unknown".
struct server_description {
    endpoint address;
    std::string type = "Unknown";
    std::optional<error> failure = {};  // why the last check failed
    std::optional<duration> round_trip_time = {};
    std::int32_t min_wire_version = 0;
    std::int32_t max_wire_version = 0;
    std::optional<std::string> set_name = {};
    std::vector<endpoint> hosts = {};
    std::vector<endpoint> passives = {};
    std::vector<endpoint> arbiters = {};
    std::map<std::string, std::string> tags = {};
    std::optional<endpoint> primary = {};
};

/// The last known state of the whole deployment: "ReplicaSetWithPrimary".
struct topology_description {
    std::string type = "Unknown";
    std::optional<std::string> set_name = {};
    std::vector<server_description> servers = {};
    std::optional<std::string> compatibility_error = {};
    std::optional<std::int32_t> logical_session_timeout_minutes = {};
};

}  // namespace holdfast::mongo
