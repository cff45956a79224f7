#include "core/couchbase/operation/get.hpp"

#include "core/couchbase/wire/big_endian.hpp"

#include <utility>

namespace holdfast::core::couchbase {

namespace {

namespace cb = holdfast::couchbase;

constexpr std::size_t most_replicas = 3;

template <class Operation>
result<Operation> with_order(result<kv_order> order)
{
    if (!order)
        return std::move(order).error();
    return Operation{*std::move(order)};
}

}  // namespace

error no_flags()
{
    return bad_reply("no flags of the document");
}

result<encoded_document> read_document(const kv_reply& reply)
{
    result<encoded_document> read{std::in_place};
    if (!read_flags(reply, read->flags)) [[unlikely]]
        return no_flags();
    read->cas.value = reply.cas;
    read->content.flags = read->flags;
    // Not by assign(), which costs twice as much for an empty string.
    read->content.bytes = std::string(reinterpret_cast<const char*>(reply.value.data()),
                                      reply.value.size());
    return read;
}

result<get_operation> get_operation::make(std::string_view key, const operation_context& in)
{
    result<get_operation> made{std::in_place};
    if (auto problem = begin_order(made->order, kv_opcode::get, "get", key, in)) [[unlikely]]
        made = *std::move(problem);
    return made;
}

result<get_if_operation> get_if_operation::make(std::string_view key, const operation_context& in)
{
    return with_order<get_if_operation>(begin_order(kv_opcode::get, "get_if", key, in));
}

auto get_if_operation::read(const kv_reply& reply) -> result<value_type>
{
    if (reply.status == kv_status::not_found)
        return value_type{};
    auto found = read_document(reply);
    if (!found)
        return std::move(found).error();
    return value_type{*std::move(found)};
}

result<get_replica_operation> get_replica_operation::make(std::string_view key, std::uint8_t copy,
                                                          cb::read_preference preference,
                                                          const operation_context& in)
{
    if (copy > most_replicas)
        return error{errc::invalid_argument, "a document has at most three replicas"};
    auto order = begin_order(copy == 0 ? kv_opcode::get : kv_opcode::get_replica, "get_replica",
                             key, in);
    if (order) {
        order->copy = copy;
        order->preference = preference;
    }
    return with_order<get_replica_operation>(std::move(order));
}

result<get_and_touch_operation> get_and_touch_operation::make(std::string_view key,
                                                              const cb::expiry& expiry,
                                                              const operation_context& in)
{
    const auto number = expiry_number(expiry, in);
    if (!number)
        return number.error();
    auto order = begin_order(kv_opcode::get_and_touch, "get_and_touch", key, in);
    if (order)
        order->extras.add(*number);
    return with_order<get_and_touch_operation>(std::move(order));
}

result<get_and_lock_operation> get_and_lock_operation::make(std::string_view key,
                                                            std::chrono::milliseconds time,
                                                            const operation_context& in)
{
    using std::chrono::seconds;
    constexpr seconds longest{30};
    const auto whole = std::chrono::ceil<seconds>(time);
    if (whole < seconds{1} || whole > longest)
        return error{errc::invalid_argument, "a lock is held for 1 to 30 seconds, not for " +
                                                 std::to_string(time.count()) + " ms"};
    auto order = begin_order(kv_opcode::get_and_lock, "get_and_lock", key, in);
    if (order)
        order->extras.add(static_cast<std::uint32_t>(whole.count()));
    return with_order<get_and_lock_operation>(std::move(order));
}

result<exists_operation> exists_operation::make(std::string_view key, const operation_context& in)
{
    constexpr std::uint8_t with_datatype = 2;  // the version of the reply
    auto order = begin_order(kv_opcode::get_meta, "exists", key, in);
    if (order)
        order->extras.add(with_datatype);
    return with_order<exists_operation>(std::move(order));
}

auto exists_operation::read(const kv_reply& reply) -> result<value_type>
{
    if (reply.status == kv_status::not_found)
        return value_type{};
    if (reply.extras.size() < sizeof(std::uint32_t))
        return bad_reply("no metadata of the document");
    if (load_big<std::uint32_t>(reply.extras.data()) != 0)
        return value_type{};  // it was deleted, and its metadata is still there
    return value_type{true, {reply.cas}};
}

}  // namespace holdfast::core::couchbase
