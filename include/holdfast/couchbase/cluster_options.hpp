#pragma once
#include "holdfast/couchbase/events.hpp"
#include "holdfast/couchbase/retry.hpp"
#include "holdfast/log.hpp"
#include "holdfast/observer.hpp"
#include "holdfast/options.hpp"
#include "holdfast/secret.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
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

/// Which requests are in the log as slow, or as answered too late: a warning per interval in which
/// there were any, with the slowest of them. Without a log there is none.
struct log_thresholds {
    bool enabled = true;
    std::chrono::milliseconds key_value{500};
    std::chrono::milliseconds query{1'000};
    std::chrono::milliseconds analytics{1'000};
    std::chrono::milliseconds search{1'000};
    std::chrono::milliseconds views{1'000};
    std::chrono::milliseconds management{1'000};
    std::chrono::milliseconds interval{10'000};
    std::uint32_t sample = 10;  // requests of a service that are shown, up to 1,000
    bool orphans = true;        // replies that came after their request was given up
};

/// What a connection string cannot say.
struct cluster_options {
    couchbase::authenticator authenticator = {};
    /// The CAs whose certificates are trusted, as text in PEM; besides those of trust_certificate
    /// in the connection string. Without either: those of the system, and for hosts of Capella its
    /// own as well.
    std::string trusted_certificates = {};
    retry_strategy_ptr strategy = {};  // none: fast_fail_on_terminal_error_retry_strategy
    /// Tokens, up to a million. Each retry that a strategy wants takes one, and each operation that
    /// succeeds gives back a tenth. None: what the connection string says; 0: retries need none.
    std::optional<std::uint32_t> retry_budget = {};
    std::optional<breaker_options> circuit_breaker = {};
    std::vector<std::shared_ptr<event_listener>> listeners = {};
    std::shared_ptr<log_sink> log = {};
    log_thresholds thresholds = {};
    std::vector<std::shared_ptr<observer>> observers = {};
    /// Where observers are called. None: a thread of their own, the only one that a cluster ever
    /// starts, and only if there are observers. On an executor that runs connections as well, a
    /// slow observer delays those.
    boost::asio::any_io_executor observers_on = {};
    /// Events that may wait for the observers; beyond it, further operations are not reported.
    std::size_t observer_queue = 8'192;
    bool strict = false;  // warnings about the connection string are errors
};

/// How long to wait until a cluster can be used.
struct ready_options {
    std::chrono::milliseconds timeout{10'000};
};
static_assert(option_struct<ready_options>);

struct ping_options {
    std::chrono::milliseconds timeout{2'500};
    std::span<const service_type> services = {};  // empty: all
};
static_assert(option_struct<ping_options>);

}  // namespace holdfast::couchbase
