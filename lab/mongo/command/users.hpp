#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/error.hpp"
#include "lab/mongo/command/scram.hpp"
#include "lab/mongo/node/node.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string_view>

namespace holdfast::lab::mongo {

inline constexpr std::string_view users_ns = "admin.system.users";
inline constexpr std::string_view sha_1_name = "SCRAM-SHA-1";
inline constexpr std::string_view sha_256_name = "SCRAM-SHA-256";

/// The document of a user, as it lies in admin.system.users.
std::optional<bson::document> find_user(const node& on, std::string_view database,
                                        std::string_view name);
bool has_users(const node& on);

/// What is known of him for one mechanism, if anything.
std::optional<scram_keys> keys_of(bson::view user, bool sha_256);

/// Adds {credentials: {...}} for both mechanisms, or those of them that are wanted. SASLprep is
/// limited to ASCII, which it leaves as it is; other UTF-8 is not normalised either.
struct wanted_mechanisms {
    bool sha_1 = true;
    bool sha_256 = true;
};
result<void> add_credentials(node& on, std::string_view name, std::string_view password,
                             wanted_mechanisms which, bson::builder& user);

/// Changes of that collection, replicated as all data is. A user is a whole document with _id.
result<optime> insert_user(node& on, bson::view user);
result<optime> replace_user(node& on, bson::view user);
result<optime> remove_user(node& on, std::string_view id);

/// A user with the role root, for a server that is started with one. 51003 if he exists.
result<void> create_root_user(node& on, std::string_view name, std::string_view password);

/// All of one database, or of all of them.
void for_each_user(const node& on, std::string_view database,
                   const std::function<void(bson::view)>& each);

result<progress> users_info(node& on, request& what, bson::builder& reply);
result<progress> roles_info(node& on, request& what, bson::builder& reply);
std::span<const command> user_commands();

}  // namespace holdfast::lab::mongo
