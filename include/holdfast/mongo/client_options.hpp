#pragma once
#include "holdfast/log.hpp"
#include "holdfast/mongo/admin_options.hpp"
#include "holdfast/mongo/concern.hpp"
#include "holdfast/mongo/description.hpp"
#include "holdfast/mongo/events.hpp"
#include "holdfast/mongo/session.hpp"
#include "holdfast/options.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace holdfast::mongo {

/// A promise of the server to answer as a certain version of its API says.
struct server_api {
    std::string version = "1";
    std::optional<bool> strict = {};  // commands beyond it are refused
    std::optional<bool> deprecation_errors = {};
};

/// Chooses among the servers that are suitable for an operation; gives back some of them, by their
/// place. Called with each selection, on any thread, with no lock held; must not throw.
using server_selector =
    std::function<std::vector<std::size_t>(std::span<const server_description>)>;

/// What a connection string cannot say.
struct client_options {
    std::vector<std::shared_ptr<event_listener>> listeners = {};
    std::shared_ptr<log_sink> log = {};  // none: the few warnings go to standard error
    std::size_t log_document_length = 1000;  // bytes of a command or reply that a message shows
    bool strict = false;  // warnings about the connection string are errors
    std::optional<mongo::server_api> server_api = {};
    mongo::server_selector server_selector = {};
};

/// How a client is closed.
struct close_options {
    std::chrono::milliseconds drain{0};  // for operations under way; 0: they are cancelled
};
static_assert(option_struct<close_options>);

}  // namespace holdfast::mongo
