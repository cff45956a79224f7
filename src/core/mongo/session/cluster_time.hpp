#pragma once
#include "holdfast/bson/document.hpp"

#include <optional>

namespace holdfast::core::mongo {

/// The latest "$clusterTime" seen, signature and all, to be sent with every command. It only moves
/// forward.
class cluster_time {
public:
    /// Takes the time of a reply, or of another session. False if it is not later.
    bool advance(bson::view time);

    /// The document to send; nothing before the first reply.
    const std::optional<bson::document>& latest() const noexcept { return latest_; }

private:
    std::optional<bson::document> latest_;
    bson::timestamp when_{};
};

/// What a causally consistent session remembers: reads ask for data at least this recent.
class operation_time {
public:
    bool advance(bson::timestamp time) noexcept;
    const std::optional<bson::timestamp>& latest() const noexcept { return latest_; }

private:
    std::optional<bson::timestamp> latest_;
};

}  // namespace holdfast::core::mongo
