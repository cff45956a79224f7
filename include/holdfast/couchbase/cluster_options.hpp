#pragma once
#include "holdfast/couchbase/events.hpp"
#include "holdfast/couchbase/retry.hpp"
#include "holdfast/log.hpp"
#include "holdfast/options.hpp"
#include "holdfast/secret.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace holdfast::couchbase {

/// Outside TLS the password itself is never sent: the server must prove that it knows it, too.
struct password {
    std::string user = {};
    secret text = {};
};

/// A certificate and its key in one PEM file. With couchbases:// only.
struct client_certificate {
    std::string pem_file = {};
    std::optional<secret> key_password = {};
};

/// A JSON Web Token. With couchbases:// only.
struct bearer_token {
    secret jwt = {};
};

using authenticator = std::variant<password, client_certificate, bearer_token>;

/// Keeps requests away from a node that fails most of them.
struct breaker_options {
    std::uint32_t volume = 20;  // fewer requests in a window say nothing
    std::uint32_t error_percentage = 50;
    std::chrono::milliseconds sleep_window{5'000};
    std::chrono::milliseconds rolling_window{60'000};
};

/// What a connection string cannot say.
struct cluster_options {
    couchbase::authenticator authenticator = {};
    retry_strategy_ptr strategy = {};  // none: fast_fail_on_terminal_error_retry_strategy
    std::optional<std::uint32_t> retry_budget = {};  // retries that may be open at once; none: any
    std::optional<breaker_options> circuit_breaker = {};
    std::vector<std::shared_ptr<event_listener>> listeners = {};
    std::shared_ptr<log_sink> log = {};
    bool strict = false;  // warnings about the connection string are errors
};

/// How long to wait until a cluster can be used.
struct ready_options {
    std::chrono::milliseconds timeout{10'000};
};
static_assert(option_struct<ready_options>);

struct ping_options {
    std::chrono::milliseconds timeout{2'500};
};
static_assert(option_struct<ping_options>);

}  // namespace holdfast::couchbase
