#pragma once
#include "lab/mongo/set/snapshot.hpp"

#include <cstdint>
#include <memory>

namespace holdfast::lab::mongo {

/// The source's side of an initial sync: the one snapshot that another member fetches in parts.
class snapshot_store {
public:
    /// _labSnapshot: the first request takes a snapshot, the following ones fetch it.
    result<void> answer(disk& of, time_point now, bson::view request, bson::builder& reply);
    /// Frees a snapshot whose reader has not come back for a minute.
    void drop_unused(time_point now);

private:
    std::shared_ptr<snapshot> current_;
    std::int64_t taken_ = 0;
};

}  // namespace holdfast::lab::mongo
