#pragma once
#include "core/couchbase/operation/kv_order.hpp"
#include "core/couchbase/operation/kv_rules.hpp"
#include "holdfast/couchbase/kv_options.hpp"
#include "holdfast/couchbase/subdoc.hpp"
#include "holdfast/error.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Reads and changes of parts of documents.
namespace holdfast::core::couchbase {

/// Longer paths are refused by servers.
inline constexpr std::size_t max_path_size = 1024;

namespace doc_flags {
inline constexpr std::uint8_t create = 0x01;
inline constexpr std::uint8_t add = 0x02;
inline constexpr std::uint8_t access_deleted = 0x04;
inline constexpr std::uint8_t create_as_deleted = 0x08;
inline constexpr std::uint8_t revive = 0x10;
inline constexpr std::uint8_t replica_read = 0x20;
}  // namespace doc_flags

/// The order in which paths are sent, those of extended attributes first as servers demand:
/// `[n]` is the place of the n-th that was sent among those that the caller has given.
using path_order = std::array<std::uint8_t, holdfast::couchbase::max_subdoc_paths>;

/// A path as it was asked for: what a reply is read against.
struct asked_path {
    std::string path = {};
    bool is_xattr = false;
    bool only_exists = false;
};

/// The error of a status that stands for one path.
error_code path_error(kv_status status, bool is_xattr);

/// The results of a multi lookup, one for each path, in the order of the caller.
result<std::vector<holdfast::couchbase::path_result>> read_lookup(
    std::span<const std::uint8_t> value, std::span<const asked_path> asked,
    const path_order& order);

struct lookup_in_operation {
    using value_type = holdfast::couchbase::lookup_result;
    static constexpr bool is_answer(kv_status status)
    {
        return status == kv_status::success || status == kv_status::subdoc_multi_path_failure ||
               status == kv_status::subdoc_success_deleted ||
               status == kv_status::subdoc_multi_path_failure_deleted;
    }

    kv_order order;
    std::vector<asked_path> asked;
    path_order sent{};

    static result<lookup_in_operation> make(std::string_view key,
                                            const holdfast::couchbase::lookup& paths,
                                            const holdfast::couchbase::lookup_in_options& options,
                                            const operation_context& in);
    /// Of one copy of the document: 0 is the active one.
    static result<lookup_in_operation> make_for_copy(std::string_view key,
                                                     const holdfast::couchbase::lookup& paths,
                                                     std::uint8_t copy,
                                                     holdfast::couchbase::read_preference which,
                                                     const operation_context& in);
    result<value_type> read(const kv_reply& reply) const;
};

struct mutate_in_operation {
    using value_type = holdfast::couchbase::mutate_result;
    /// A path that failed is an answer, whose error only the operation can name; so is "exists",
    /// which means one thing if the document was to be made, and another if not.
    static constexpr bool is_answer(kv_status status)
    {
        return status == kv_status::success || status == kv_status::subdoc_success_deleted ||
               status == kv_status::subdoc_multi_path_failure ||
               status == kv_status::subdoc_multi_path_failure_deleted ||
               status == kv_status::exists;
    }

    kv_order order;
    std::vector<asked_path> asked;
    path_order sent{};
    bool inserts = false;

    static result<mutate_in_operation> make(std::string_view key,
                                            const holdfast::couchbase::changes& what,
                                            const holdfast::couchbase::mutate_in_options& options,
                                            const operation_context& in);
    result<value_type> read(const kv_reply& reply) const;
};

static_assert(kv_operation<lookup_in_operation> && kv_operation<mutate_in_operation>);

}  // namespace holdfast::core::couchbase
