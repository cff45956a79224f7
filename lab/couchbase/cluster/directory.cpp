#include "lab/couchbase/cluster/directory.hpp"

#include <algorithm>

namespace holdfast::lab::couchbase {

namespace {

bool rules_all(const user_role& one)
{
    return one.name == "admin" || one.name == "cluster_admin";
}

}  // namespace

std::vector<user_role> directory::roles_of(const user_record& user) const
{
    std::vector<user_role> all = user.roles;
    for (const std::string& name : user.groups) {
        if (const auto found = groups.find(name); found != groups.end())
            all.insert(all.end(), found->second.roles.begin(), found->second.roles.end());
    }
    return all;
}

bool directory::is_administrator(std::string_view user) const
{
    const auto found = users.find(user);
    return found != users.end() && std::ranges::any_of(roles_of(found->second), rules_all);
}

opened_buckets buckets_of(const std::vector<user_role>& roles)
{
    opened_buckets made;
    for (const user_role& one : roles) {
        made.all = made.all || one.name == "admin" || one.bucket == "*";
        if (!one.bucket.empty())
            made.names.push_back(one.bucket);
    }
    return made;
}

}  // namespace holdfast::lab::couchbase
