#pragma once
#include "core/couchbase/operation/get.hpp"
#include "core/couchbase/operation/kv_order.hpp"
#include "core/couchbase/operation/projection.hpp"
#include "core/couchbase/operation/subdoc.hpp"
#include "holdfast/couchbase/kv_options.hpp"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::core::couchbase {

/// get with an expiry or with projections: a lookup of several paths. If there are more of them
/// than a request may have, the whole document is read and cut here.
struct projected_get_operation {
    using value_type = encoded_document;
    static constexpr bool is_answer(kv_status status)
    {
        return status == kv_status::success || status == kv_status::subdoc_multi_path_failure;
    }

    kv_order order;
    lookup_in_operation lookup;  // all but its order
    std::vector<std::vector<path_step>> paths;  // that are wanted
    bool with_expiry = false;
    bool whole = false;  // the document is read as it is

    static bool serves(const holdfast::couchbase::get_options& options) noexcept
    {
        return options.with_expiry || !options.project.empty();
    }
    static result<projected_get_operation> make(std::string_view key,
                                                const holdfast::couchbase::get_options& options,
                                                const operation_context& in);
    result<value_type> read(const kv_reply& reply) const;
};

/// The same for get_if: absence is a value.
struct projected_get_if_operation {
    using value_type = std::optional<encoded_document>;
    static constexpr bool is_answer(kv_status status)
    {
        return projected_get_operation::is_answer(status) || status == kv_status::not_found;
    }

    kv_order order;
    projected_get_operation get;  // all but its order

    static result<projected_get_if_operation> make(std::string_view key,
                                                   const holdfast::couchbase::get_options& options,
                                                   const operation_context& in);
    result<value_type> read(const kv_reply& reply) const;
};

static_assert(kv_operation<projected_get_operation> && kv_operation<projected_get_if_operation>);

}  // namespace holdfast::core::couchbase
