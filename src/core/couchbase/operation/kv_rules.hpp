#pragma once
#include "core/couchbase/operation/kv_order.hpp"
#include "core/couchbase/wire/frame_info.hpp"
#include "holdfast/couchbase/document.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "holdfast/error.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace holdfast::core::couchbase {

using holdfast::couchbase::errc;

/// What an operation must know beside its own arguments to be built.
struct operation_context {
    std::chrono::sys_seconds now = {};               // long expiries are sent as points in time
    std::chrono::milliseconds timeout{2500};  // of the operation: a durable write ends before
    bool in_default_collection = true;
};

/// A server takes 251 bytes for the key together with the id of its collection, which has one byte
/// for the default collection and up to five for others.
inline constexpr std::size_t max_key_size = document_key::capacity;
inline constexpr std::size_t max_collection_key_size = 246;

/// Whether servers take such a key.
inline bool is_valid_key(std::string_view key, const operation_context& in) noexcept
{
    return !key.empty() &&
           key.size() <= (in.in_default_collection ? max_key_size : max_collection_key_size);
}
error invalid_key(std::string_view key, const operation_context& in);

/// An expiry as it is sent: seconds from now up to 30 days, and else a point in time. Zero is none.
result<std::uint32_t> expiry_number(const holdfast::couchbase::expiry& expiry,
                                    const operation_context& in);

/// How long the server may try to make a write durable: less than the operation may take, so that
/// its answer arrives; and no shorter than a server accepts.
std::uint16_t durability_timeout_ms(std::chrono::milliseconds operation) noexcept;

/// The frame infos of a write.
result<request_infos> write_infos(holdfast::couchbase::durability durability, bool preserve_expiry,
                                  const operation_context& in);

/// The beginning of every order: the key is checked, the rest is left to the operation. Gives the
/// error of a key that no server would take.
inline std::optional<error> begin_order(kv_order& order, kv_opcode opcode,
                                        std::string_view operation, std::string_view key,
                                        const operation_context& in)
{
    if (!is_valid_key(key, in)) [[unlikely]]
        return invalid_key(key, in);
    order.opcode = opcode;
    order.operation = operation;
    order.key.assign(key);
    return std::nullopt;
}
/// The same as a value.
result<kv_order> begin_order(kv_opcode opcode, std::string_view operation, std::string_view key,
                             const operation_context& in);

/// What all mutations are answered with. Fails if the token has the wrong size.
result<holdfast::couchbase::mutation_result> read_mutation(const kv_reply& reply);
/// The token alone; nothing is put there if the reply has none.
std::optional<error> read_token(const kv_reply& reply,
                                std::optional<holdfast::couchbase::mutation_token>& into);

/// An answer that is not as the protocol has it: errc::decoding_failure.
error bad_reply(std::string_view what);

}  // namespace holdfast::core::couchbase
