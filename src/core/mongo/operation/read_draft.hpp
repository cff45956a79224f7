#pragma once
#include "core/mongo/operation/draft.hpp"
#include "core/mongo/operation/space.hpp"

#include <utility>

namespace holdfast::core::mongo {

/// The end of all reads: read concern, read preference and time limit.
template <class Options>
result<command> finish_read(draft& d, const operation_space& space, const Options& options)
{
    if (auto made = make_read(d.to, space, options.read_concern, options.read_preference); !made)
        return std::move(made).error();
    d.limit(options.timeout);
    d.to.raw_data = options.raw_data;
    return d.finish();
}

}  // namespace holdfast::core::mongo
