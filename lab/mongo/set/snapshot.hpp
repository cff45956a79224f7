#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/error.hpp"
#include "lab/mongo/data/disk.hpp"
#include "lab/mongo/data/optime.hpp"

#include <cstdint>
#include <vector>

namespace holdfast::lab::mongo {

/// Everything that a disk has at one moment, for a member that copies it. A part is a piece of an
/// oplog entry (op, ns, ui, o) or, as {session: ...}, of the session table. Taken at once, so that
/// it needs no repair afterwards; kept while it is being fetched.
struct snapshot {
    std::int64_t id = 0;
    optime at = {};
    std::vector<bson::document> parts = {};
    time_point used{};
};

void take_snapshot(disk& of, snapshot& into);

/// Puts one part into a disk that was empty at first; `number` counts them from 1.
result<void> add_part(disk& to, bson::view part, std::uint32_t number);

}  // namespace holdfast::lab::mongo
