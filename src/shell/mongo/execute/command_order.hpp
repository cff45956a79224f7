#pragma once
#include "core/mongo/retry/decide.hpp"
#include "core/mongo/select/suitable.hpp"
#include "core/mongo/session/server_session.hpp"
#include "core/mongo/settings/read_preference.hpp"
#include "core/retry/deadline.hpp"
#include "holdfast/bson/document.hpp"
#include "holdfast/id.hpp"

#include <memory>
#include <string>

namespace holdfast::shell::mongo {

struct session_state;

/// One command as an operation wants it carried out.
struct command_order {
    std::string database;
    bson::document body;  // its first key is the command's name
    core::mongo::retry_kind kind = core::mongo::retry_kind::generic;
    core::mongo::operation_kind selects = core::mongo::operation_kind::write;
    core::mongo::read_preference preference = {};
    /// A write of a kind that may carry a transaction number, or a read of the retryable kind.
    bool eligible = false;
    bool acknowledged = true;  // not w: 0
    core::deadline until = {};
    std::shared_ptr<session_state> session = {};  // the application's own; null: one is taken
};

}  // namespace holdfast::shell::mongo
