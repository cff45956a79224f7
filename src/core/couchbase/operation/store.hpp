#pragma once
#include "core/couchbase/operation/kv_order.hpp"
#include "core/couchbase/operation/kv_rules.hpp"
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/couchbase/document.hpp"
#include "holdfast/couchbase/kv_options.hpp"
#include "holdfast/error.hpp"

#include <cstdint>
#include <string_view>

/// Writes of whole documents.
namespace holdfast::core::couchbase {

/// Content that encode_content() has made.
struct stored_content {
    bson::byte_buffer bytes = {};
    std::uint32_t flags = 0;
};

struct mutation_operation {
    using value_type = holdfast::couchbase::mutation_result;
    static constexpr bool is_answer(kv_status status) { return status == kv_status::success; }

    kv_order order = {};

    static result<value_type> read(const kv_reply& reply) { return read_mutation(reply); }
};

struct upsert_operation : mutation_operation {
    static result<upsert_operation> make(std::string_view key, stored_content&& content,
                                         const holdfast::couchbase::upsert_options& options,
                                         const operation_context& in);
};

struct insert_operation : mutation_operation {
    static result<insert_operation> make(std::string_view key, stored_content&& content,
                                         const holdfast::couchbase::insert_options& options,
                                         const operation_context& in);
};

struct replace_operation : mutation_operation {
    static result<replace_operation> make(std::string_view key, stored_content&& content,
                                          const holdfast::couchbase::replace_options& options,
                                          const operation_context& in);
};

struct remove_operation : mutation_operation {
    static result<remove_operation> make(std::string_view key,
                                         const holdfast::couchbase::remove_options& options,
                                         const operation_context& in);
};

struct touch_operation : mutation_operation {
    static result<touch_operation> make(std::string_view key,
                                        const holdfast::couchbase::expiry& expiry,
                                        const operation_context& in);
    /// The reply says no more than the version; some servers send the flags along.
    static result<value_type> read(const kv_reply& reply);
};

struct unlock_operation {
    using value_type = void;
    static constexpr bool is_answer(kv_status status) { return status == kv_status::success; }

    kv_order order = {};

    static result<unlock_operation> make(std::string_view key, holdfast::couchbase::cas cas,
                                         const operation_context& in);
    static result<value_type> read(const kv_reply&) { return {}; }
};

enum class which_end : std::uint8_t { front, back };

/// append and prepend: bytes are added as they are, whatever the document is.
struct append_operation : mutation_operation {
    static result<append_operation> make(which_end end, std::string_view key,
                                         bson::byte_buffer bytes,
                                         const holdfast::couchbase::append_options& options,
                                         const operation_context& in);
};

enum class direction : std::uint8_t { up, down };

/// increment and decrement.
struct counter_operation {
    using value_type = holdfast::couchbase::counter_result;
    static constexpr bool is_answer(kv_status status) { return status == kv_status::success; }

    kv_order order = {};

    static result<counter_operation> make(direction which, std::string_view key,
                                          const holdfast::couchbase::counter_options& options,
                                          const operation_context& in);
    static result<value_type> read(const kv_reply& reply);
};

static_assert(kv_operation<upsert_operation> && kv_operation<insert_operation> &&
              kv_operation<replace_operation> && kv_operation<remove_operation> &&
              kv_operation<touch_operation> && kv_operation<unlock_operation> &&
              kv_operation<append_operation> && kv_operation<counter_operation>);

}  // namespace holdfast::core::couchbase
