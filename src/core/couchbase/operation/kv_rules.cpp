#include "core/couchbase/operation/kv_rules.hpp"

#include "core/couchbase/wire/big_endian.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace holdfast::core::couchbase {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
namespace cb = holdfast::couchbase;

/// A number up to this is taken for a span, and above it for a point in time.
constexpr seconds longest_span = std::chrono::days{30};
constexpr std::int64_t latest_time = std::numeric_limits<std::uint32_t>::max();

error invalid_expiry(std::string message)
{
    return error{errc::invalid_argument, "expiry: " + std::move(message)};
}

result<std::uint32_t> as_time(seconds since_epoch)
{
    if (since_epoch.count() > latest_time)
        return invalid_expiry("a time after the year 2106 cannot be sent");
    return static_cast<std::uint32_t>(since_epoch.count());
}

}  // namespace

error invalid_key(std::string_view key, const operation_context& in)
{
    if (key.empty())
        return error{errc::invalid_argument, "the id of a document cannot be empty"};
    const std::size_t limit = in.in_default_collection ? max_key_size : max_collection_key_size;
    return error{errc::invalid_argument, "an id of " + std::to_string(key.size()) +
                                             " bytes; at most " + std::to_string(limit) +
                                             " are possible in this collection"};
}

result<std::uint32_t> expiry_number(const cb::expiry& expiry, const operation_context& in)
{
    if (const auto span = expiry.span()) {
        if (*span <= seconds{0})
            return invalid_expiry("a span must be longer than zero; expiry::never() is none");
        if (*span <= longest_span)
            return static_cast<std::uint32_t>(span->count());
        if (span->count() > latest_time)
            return invalid_expiry("a span of more than 136 years cannot be sent");
        return as_time(in.now.time_since_epoch() + *span);
    }
    if (const auto point = expiry.point()) {
        if (point->time_since_epoch() <= longest_span)
            return invalid_expiry("a server takes a time before February 1970 for a span");
        return as_time(point->time_since_epoch());
    }
    return std::uint32_t{0};
}

std::uint16_t durability_timeout_ms(milliseconds operation) noexcept
{
    constexpr std::int64_t shortest = 1500;
    constexpr std::int64_t longest = 65'534;
    constexpr std::int64_t percent = 90;
    const std::int64_t bounded = std::clamp<std::int64_t>(operation.count(), 0, 10 * longest);
    return static_cast<std::uint16_t>(std::clamp(bounded * percent / 100, shortest, longest));
}

result<request_infos> write_infos(cb::durability durability, bool preserve_expiry,
                                  const operation_context& in)
{
    request_infos infos;
    infos.preserve_expiry = preserve_expiry;
    if (durability == cb::durability::none)
        return infos;
    if (durability > cb::durability::persist_to_majority)
        return error{errc::invalid_argument, "there is no such durability level"};
    infos.durability = static_cast<kv_durability>(durability);
    infos.durability_timeout_ms = durability_timeout_ms(in.timeout);
    return infos;
}

result<kv_order> begin_order(kv_opcode opcode, std::string_view operation, std::string_view key,
                             const operation_context& in)
{
    result<kv_order> order{std::in_place};
    if (auto problem = begin_order(*order, opcode, operation, key, in)) [[unlikely]]
        return *std::move(problem);
    return order;
}

std::optional<error> read_token(const kv_reply& reply, std::optional<cb::mutation_token>& into)
{
    constexpr std::size_t half = sizeof(std::uint64_t);
    if (reply.extras.empty())
        return std::nullopt;
    if (reply.extras.size() != 2 * half) [[unlikely]]
        return bad_reply("a mutation token that does not have 16 bytes");
    cb::mutation_token& token = into.emplace();
    token.vbucket_uuid = load_big<std::uint64_t>(reply.extras.data());
    token.sequence_number = load_big<std::uint64_t>(reply.extras.data() + half);
    token.vbucket = reply.vbucket;
    token.bucket.assign(reply.bucket);
    return std::nullopt;
}

result<cb::mutation_result> read_mutation(const kv_reply& reply)
{
    result<cb::mutation_result> read{std::in_place};
    read->cas.value = reply.cas;
    if (auto problem = read_token(reply, read->token)) [[unlikely]]
        read = *std::move(problem);
    return read;
}

error bad_reply(std::string_view what)
{
    return error{errc::decoding_failure, std::string{"the reply has "}.append(what)};
}

}  // namespace holdfast::core::couchbase
