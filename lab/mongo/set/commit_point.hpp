#pragma once
#include "holdfast/error.hpp"
#include "lab/mongo/data/optime.hpp"
#include "lab/mongo/node/command.hpp"
#include "lab/mongo/node/membership.hpp"
#include "lab/mongo/set/config.hpp"

#include <cstdint>
#include <map>

namespace holdfast::lab::mongo {

/// How far each member has come, by _id, as far as is known. Arbiters have no place in it.
using positions = std::map<std::int32_t, optime>;

/// The newest write that a majority of the voting members with data has; nothing before a write of
/// the present term is there, because an older one could still be lost to another majority.
optime commit_point(const set_config& config, const positions& known, std::int64_t term,
                    const optime& before);

/// Whether enough members have the write.
bool is_met(const set_config& config, const positions& known, const optime& committed,
            const optime& wrote, const write_concern& concern);

/// 100 if the set is too small for it, 79 if it has no such mode.
result<void> check_satisfiable(const set_config& config, const write_concern& concern);

}  // namespace holdfast::lab::mongo
