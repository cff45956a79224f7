#pragma once
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace holdfast::lab::couchbase {

/// Services by the names that configurations have for them: "kv", "capi", "n1ql", "fts", "cbas".
/// Management ("mgmt") is on every node, and in no such set.
using service_set = std::set<std::string, std::less<>>;

/// "query" is "n1ql", "search" "fts", "analytics" "cbas", "views" "capi", "data" "kv",
/// "management" "mgmt". None if there is no such service.
std::optional<std::string> service_named(std::string_view name);

/// "kv,query,views"; none if a name is unknown.
std::optional<service_set> read_services(std::string_view list);

std::string text_of(const service_set& services);

/// All but management.
service_set all_services();

}  // namespace holdfast::lab::couchbase
