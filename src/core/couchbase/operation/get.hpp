#pragma once
#include "core/couchbase/operation/kv_order.hpp"
#include "core/couchbase/operation/kv_rules.hpp"
#include "core/couchbase/wire/big_endian.hpp"
#include "holdfast/couchbase/content.hpp"
#include "holdfast/couchbase/document.hpp"
#include "holdfast/couchbase/kv_options.hpp"
#include "holdfast/error.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

/// Reads of whole documents. What they give is content as it was stored: decode_content() makes a
/// user's type of it.
namespace holdfast::core::couchbase {

using encoded_document = holdfast::couchbase::document<holdfast::couchbase::encoded_content>;

/// The flags of a document that was read; false if the reply has none.
inline bool read_flags(const kv_reply& reply, std::uint32_t& into) noexcept
{
    if (reply.extras.size() < sizeof into) [[unlikely]]
        return false;
    into = load_big<std::uint32_t>(reply.extras.data());
    return true;
}
error no_flags();

/// The flags and the value of a document that was read.
result<encoded_document> read_document(const kv_reply& reply);

/// With projections or an expiry, get is a lookup of paths: projected_get_operation.
struct get_operation {
    using value_type = encoded_document;
    static constexpr bool is_answer(kv_status status) { return status == kv_status::success; }

    kv_order order = {};

    static result<get_operation> make(std::string_view key, const operation_context& in);
    static result<value_type> read(const kv_reply& reply) { return read_document(reply); }
};

/// Absence is a value.
struct get_if_operation {
    using value_type = std::optional<encoded_document>;
    static constexpr bool is_answer(kv_status status)
    {
        return status == kv_status::success || status == kv_status::not_found;
    }

    kv_order order = {};

    static result<get_if_operation> make(std::string_view key, const operation_context& in);
    static result<value_type> read(const kv_reply& reply);
};

/// Of one copy: the active one by get, the others by a command of their own.
struct get_replica_operation {
    using value_type = encoded_document;
    static constexpr bool is_answer(kv_status status) { return status == kv_status::success; }

    kv_order order = {};

    static result<get_replica_operation> make(std::string_view key, std::uint8_t copy,
                                              holdfast::couchbase::read_preference preference,
                                              const operation_context& in);
    static result<value_type> read(const kv_reply& reply) { return read_document(reply); }
};

struct get_and_touch_operation {
    using value_type = encoded_document;
    static constexpr bool is_answer(kv_status status) { return status == kv_status::success; }

    kv_order order = {};

    static result<get_and_touch_operation> make(std::string_view key,
                                                const holdfast::couchbase::expiry& expiry,
                                                const operation_context& in);
    static result<value_type> read(const kv_reply& reply) { return read_document(reply); }
};

struct get_and_lock_operation {
    using value_type = encoded_document;
    static constexpr bool is_answer(kv_status status) { return status == kv_status::success; }

    kv_order order = {};

    /// A server locks for at most 30 seconds; what it thinks too long it makes 15.
    static result<get_and_lock_operation> make(std::string_view key, std::chrono::milliseconds time,
                                               const operation_context& in);
    static result<value_type> read(const kv_reply& reply) { return read_document(reply); }
};

struct exists_operation {
    using value_type = holdfast::couchbase::exists_result;
    static constexpr bool is_answer(kv_status status)
    {
        return status == kv_status::success || status == kv_status::not_found;
    }

    kv_order order = {};

    static result<exists_operation> make(std::string_view key, const operation_context& in);
    static result<value_type> read(const kv_reply& reply);
};

static_assert(kv_operation<get_operation> && kv_operation<get_if_operation> &&
              kv_operation<get_replica_operation> && kv_operation<get_and_touch_operation> &&
              kv_operation<get_and_lock_operation> && kv_operation<exists_operation>);

}  // namespace holdfast::core::couchbase
