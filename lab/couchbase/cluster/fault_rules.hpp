#pragma once
#include "holdfast/error.hpp"
#include "holdfast/lab/couchbase_fault.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab::couchbase {

struct cluster_member;
struct cluster_state;

/// The faults of a whole cluster, by name. What they count, they count for all nodes together.
class fault_rules {
public:
    explicit fault_rules(cluster_state& of) noexcept : all_{of} {}
    fault_rules(const fault_rules&) = delete;
    fault_rules& operator=(const fault_rules&) = delete;

    /// Takes the place of the one of that name. Errors: a name in it is unknown.
    result<void> set(const std::string& name, const couchbase_fault& what);
    /// Whether there was one.
    bool remove(std::string_view name);
    void clear();
    /// How often it has happened; 0 if there is none of that name.
    std::int64_t hits(std::string_view name) const;
    std::vector<std::string> names() const;

    /// For a node that joins.
    void install_all(cluster_member& on);

    struct rule;

private:
    void install(const std::string& name, const std::shared_ptr<rule>& made, cluster_member& on);

    cluster_state& all_;
    std::map<std::string, std::shared_ptr<rule>, std::less<>> rules_;
};

}  // namespace holdfast::lab::couchbase
