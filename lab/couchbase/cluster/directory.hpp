#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab::couchbase {

/// "data_reader[travel:scope:collection]", taken apart; what is missing is empty.
struct user_role {
    std::string name = {};
    std::string bucket = {};
    std::string scope = {};
    std::string collection = {};
};

struct user_record {
    std::string display_name = {};
    std::vector<user_role> roles = {};
    std::vector<std::string> groups = {};
};

struct group_record {
    std::string description = {};
    std::string ldap_group = {};
    std::vector<user_role> roles = {};
};

/// What administrators see of users. Passwords are on the nodes.
struct directory {
    std::map<std::string, user_record, std::less<>> users = {};
    std::map<std::string, group_record, std::less<>> groups = {};

    /// Its own roles, then those of its groups.
    std::vector<user_role> roles_of(const user_record& user) const;
    bool is_administrator(std::string_view user) const;
};

/// The buckets that roles open.
struct opened_buckets {
    bool all = false;
    std::vector<std::string> names = {};
};
opened_buckets buckets_of(const std::vector<user_role>& roles);

}  // namespace holdfast::lab::couchbase
