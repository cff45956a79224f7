#pragma once
#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/object_id.hpp"
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab::mongo {

/// One member as the set's configuration describes it.
struct member_config {
    std::int32_t id = 0;
    std::string host = {};  // "localhost:27017"
    bool arbiter_only = false;
    bool build_indexes = true;
    bool hidden = false;
    double priority = 1;
    std::map<std::string, std::string> tags = {};
    std::int64_t delay_secs = 0;
    int votes = 1;

    bool voter() const noexcept { return votes > 0; }
    bool has_data() const noexcept { return !arbiter_only; }
    bool may_stand() const noexcept { return voter() && has_data() && priority > 0; }
};

/// For a write concern's name: how many values each of these tags has to be found with.
using tag_mode = std::map<std::string, std::int64_t>;

/// What replSetGetConfig shows.
struct set_config {
    std::string name = {};
    std::int64_t version = 1;
    std::int64_t term = -1;
    std::vector<member_config> members = {};
    std::chrono::milliseconds heartbeat_interval{2000};
    std::chrono::milliseconds election_timeout{10'000};
    std::map<std::string, tag_mode, std::less<>> modes = {};
    bson::object_id id = {};

    const member_config* by_id(std::int32_t id) const noexcept;
    const member_config* by_host(std::string_view host) const noexcept;
    std::size_t voters() const noexcept;
    std::size_t majority() const noexcept { return voters() / 2 + 1; }  // of votes
    std::size_t data_voters() const noexcept;
    std::size_t data_members() const noexcept;
    /// How many voting members with data "w: majority" waits for.
    std::size_t write_majority() const noexcept;
};

inline constexpr std::size_t most_members = 50;

/// 93 InvalidReplicaSetConfig.
error invalid_config(std::string why);

/// The document of replSetInitiate and replSetReconfig. 93 InvalidReplicaSetConfig.
result<set_config> read_config(bson::view from);
void write_config(bson::builder& into, const set_config& what);

/// What no set can be: no members, two of the same host, more than seven votes. 93.
result<void> check_config(const set_config& what);
/// Whether one may follow the other: it is what a set can be, its version is greater, no host
/// changes its _id, and, unless forced, at most one member more or less has a vote. 103
/// NewReplicaSetConfigurationIncompatible; 93 for that of another set.
result<void> check_reconfig(const set_config& now, const set_config& next, bool force);

/// Whether `a` was made after `b`: by terms, if both have one, and then by versions.
bool newer(const set_config& a, std::int64_t b_version, std::int64_t b_term) noexcept;

}  // namespace holdfast::lab::mongo
