#pragma once
#include "holdfast/bson/builder.hpp"
#include "holdfast/error.hpp"
#include "lab/mongo/node/node.hpp"

#include <string_view>

namespace holdfast::lab::mongo {

/// saslStart, as a command or inside of a hello: begins an exchange and writes conversationId, done
/// and payload.
result<void> start_login(node& on, client_facts& who, bson::view command, std::string_view database,
                         bson::builder& reply);

/// The mechanisms of "db.user": all of them for a user that does not exist, so that no client
/// learns which users do.
void add_supported_mechanisms(const node& on, std::string_view user, bson::builder& reply);

std::span<const command> login_commands();

}  // namespace holdfast::lab::mongo
