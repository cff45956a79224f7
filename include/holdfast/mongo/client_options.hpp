#pragma once
#include "holdfast/log.hpp"
#include "holdfast/mongo/events.hpp"
#include "holdfast/mongo/session.hpp"
#include "holdfast/options.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace holdfast::mongo {

/// What a connection string cannot say.
struct client_options {
    std::vector<std::shared_ptr<event_listener>> listeners = {};
    std::shared_ptr<log_sink> log = {};
    std::size_t log_document_length = 1000;  // bytes of a command or reply that a message shows
};

/// Who may answer a command, and how it is tried again.
enum class command_kind : std::uint8_t {
    generic,  // goes to a writable server; repeated only if the server was too busy to look at it
    read,  // goes where the read preference says, and is repeated if it is a retryable read
    write,  // a write statement: carries a transaction number, so that it can be repeated safely
};

struct command_options {
    command_kind kind = command_kind::generic;
    const class session* session = nullptr;  // null: the client takes one of its own
    std::optional<std::chrono::milliseconds> timeout = {};  // empty: the client's timeoutMS
};
static_assert(option_struct<command_options>);

}  // namespace holdfast::mongo
