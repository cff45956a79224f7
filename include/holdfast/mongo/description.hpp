#pragma once
#include "holdfast/error.hpp"
#include "holdfast/id.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::mongo {

/// Addresses that a server reports, in order. Never changed, and shared by all copies: each event
/// of a large set would otherwise copy the list of every member.
class endpoint_list {
public:
    using value_type = endpoint;
    using const_iterator = std::vector<endpoint>::const_iterator;

    endpoint_list() = default;
    explicit endpoint_list(std::shared_ptr<const std::vector<endpoint>> shared) noexcept
        : shared_{std::move(shared)}
    {
    }

    const_iterator begin() const noexcept { return all().begin(); }
    const_iterator end() const noexcept { return all().end(); }
    std::size_t size() const noexcept { return all().size(); }
    bool empty() const noexcept { return all().empty(); }
    const endpoint& operator[](std::size_t at) const noexcept { return all()[at]; }

    friend bool operator==(const endpoint_list& a, const endpoint_list& b) noexcept
    {
        return a.all() == b.all();
    }

private:
    const std::vector<endpoint>& all() const noexcept
    {
        static const std::vector<endpoint> none;
        return shared_ ? *shared_ : none;
    }

    std::shared_ptr<const std::vector<endpoint>> shared_;
};

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
    endpoint_list hosts = {};
    endpoint_list passives = {};
    endpoint_list arbiters = {};
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
