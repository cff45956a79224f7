#pragma once
#include "holdfast/couchbase/retry_reason.hpp"
#include "holdfast/error.hpp"
#include "holdfast/id.hpp"
#include "holdfast/log.hpp"

#include <cstdint>
#include <string>

namespace holdfast::couchbase {

/// A connection to a node is open. `bucket` is the one that it is for; empty: the cluster's own.
struct connection_opened {
    std::string bucket = {};
    endpoint server = {};
};

/// It could not be opened, and will be tried again.
struct connection_failed {
    std::string bucket = {};
    endpoint server = {};
    std::string cause = {};
};

/// It has ended. If the node is still needed it is opened again.
struct connection_lost {
    std::string bucket = {};
    endpoint server = {};
    std::string cause = {};
};

/// There is a new configuration: nodes, or the places of documents, have changed.
struct config_changed {
    std::string bucket = {};
    endpoint from = {};
    std::string revision = {};
};

/// A configuration was sent that cannot be used. The present one stays.
struct config_refused {
    std::string bucket = {};
    endpoint from = {};
    std::string cause = {};
};

/// An attempt of a request has failed: it will be made again after `wait`, or not at all.
struct request_retried {
    std::string operation = {};
    retry_reason reason = retry_reason::unknown;
    bool scheduled = false;
    std::uint32_t attempts = 0;  // retries, with this one
    duration wait{};
    std::string decision = {};  // the sentence why
    endpoint server = {};  // the node of the attempt; empty if none was found
};

/// Hears what happens in a cluster. All functions may be called from any thread, with no lock held;
/// they must be brief, and must not throw.
class event_listener {
public:
    virtual ~event_listener() = default;
    virtual void on(const connection_opened&) {}
    virtual void on(const connection_failed&) {}
    virtual void on(const connection_lost&) {}
    virtual void on(const config_changed&) {}
    virtual void on(const config_refused&) {}
    virtual void on(const request_retried&) {}
};

namespace log_components {

inline constexpr log_component connection{"connection"};
inline constexpr log_component configuration{"configuration"};
inline constexpr log_component retry{"retry"};
inline constexpr log_component threshold{"threshold"};
inline constexpr log_component orphan{"orphan"};
inline constexpr log_component cluster{"cluster"};

}  // namespace log_components

}  // namespace holdfast::couchbase
