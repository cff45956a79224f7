#include "core/couchbase/operation/store.hpp"

#include "core/couchbase/wire/big_endian.hpp"

#include <utility>

namespace holdfast::core::couchbase {

namespace {

namespace cb = holdfast::couchbase;

/// What the options of all writes may say.
struct write_request {
    cb::durability durability = cb::durability::none;
    cb::expiry expiry = {};
    bool preserve_expiry = false;
    cb::cas cas = {};
};

result<kv_order> write_order(kv_opcode opcode, std::string_view operation, std::string_view key,
                             const write_request& options, const operation_context& in)
{
    if (options.preserve_expiry && !options.expiry.is_never())
        return error{errc::invalid_argument,
                     "preserve_expiry and an expiry cannot be asked for together"};
    auto infos = write_infos(options.durability, options.preserve_expiry, in);
    if (!infos)
        return std::move(infos).error();
    auto order = begin_order(opcode, operation, key, in);
    if (order) {
        order->infos = *infos;
        order->cas = options.cas.value;
    }
    return order;
}

/// A document is stored with its flags and expiry.
result<kv_order> store_order(kv_opcode opcode, std::string_view operation, std::string_view key,
                             stored_content content, const write_request& options,
                             const operation_context& in)
{
    auto order = write_order(opcode, operation, key, options, in);
    if (!order)
        return order;
    const auto expiry = expiry_number(options.expiry, in);
    if (!expiry)
        return expiry.error();
    order->extras.add(content.flags);
    order->extras.add(*expiry);
    order->value = std::move(content.bytes);
    order->may_compress = true;
    return order;
}

template <class Operation>
result<Operation> of_order(result<kv_order> order)
{
    if (!order)
        return std::move(order).error();
    return Operation{{*std::move(order)}};
}

}  // namespace

result<upsert_operation> upsert_operation::make(std::string_view key, stored_content content,
                                                const cb::upsert_options& options,
                                                const operation_context& in)
{
    return of_order<upsert_operation>(
        store_order(kv_opcode::upsert, "upsert", key, std::move(content),
                    {options.durability, options.expiry, options.preserve_expiry}, in));
}

result<insert_operation> insert_operation::make(std::string_view key, stored_content content,
                                                const cb::insert_options& options,
                                                const operation_context& in)
{
    return of_order<insert_operation>(store_order(kv_opcode::insert, "insert", key,
                                                  std::move(content),
                                                  {options.durability, options.expiry}, in));
}

result<replace_operation> replace_operation::make(std::string_view key, stored_content content,
                                                  const cb::replace_options& options,
                                                  const operation_context& in)
{
    return of_order<replace_operation>(store_order(
        kv_opcode::replace, "replace", key, std::move(content),
        {options.durability, options.expiry, options.preserve_expiry, options.cas}, in));
}

result<remove_operation> remove_operation::make(std::string_view key,
                                                const cb::remove_options& options,
                                                const operation_context& in)
{
    return of_order<remove_operation>(
        write_order(kv_opcode::remove, "remove", key,
                    {.durability = options.durability, .cas = options.cas}, in));
}

result<touch_operation> touch_operation::make(std::string_view key, const cb::expiry& expiry,
                                              const operation_context& in)
{
    const auto number = expiry_number(expiry, in);
    if (!number)
        return number.error();
    auto order = begin_order(kv_opcode::touch, "touch", key, in);
    if (order)
        order->extras.add(*number);
    return of_order<touch_operation>(std::move(order));
}

auto touch_operation::read(const kv_reply& reply) -> result<value_type>
{
    return value_type{{reply.cas}, {}};
}

result<unlock_operation> unlock_operation::make(std::string_view key, cb::cas cas,
                                                const operation_context& in)
{
    if (!cas)
        return error{errc::invalid_argument, "unlock takes the cas that get_and_lock has given"};
    auto order = begin_order(kv_opcode::unlock, "unlock", key, in);
    if (!order)
        return std::move(order).error();
    order->cas = cas.value;
    return unlock_operation{*std::move(order)};
}

result<append_operation> append_operation::make(which_end end, std::string_view key,
                                                bson::byte_buffer bytes,
                                                const cb::append_options& options,
                                                const operation_context& in)
{
    const bool back = end == which_end::back;
    auto order = write_order(back ? kv_opcode::append : kv_opcode::prepend,
                             back ? "append" : "prepend", key,
                             {.durability = options.durability, .cas = options.cas}, in);
    if (order) {
        order->value = std::move(bytes);
        order->may_compress = true;
    }
    return of_order<append_operation>(std::move(order));
}

result<counter_operation> counter_operation::make(direction which, std::string_view key,
                                                  const cb::counter_options& options,
                                                  const operation_context& in)
{
    constexpr std::uint32_t do_not_create = 0xffffffff;
    const bool up = which == direction::up;
    auto order = write_order(up ? kv_opcode::increment : kv_opcode::decrement,
                             up ? "increment" : "decrement", key,
                             {.durability = options.durability,
                              .expiry = options.expiry,
                              .preserve_expiry = options.preserve_expiry},
                             in);
    if (!order)
        return std::move(order).error();
    const auto expiry = expiry_number(options.expiry, in);
    if (!expiry)
        return expiry.error();
    order->extras.add(options.delta);
    order->extras.add(options.initial.value_or(0));
    order->extras.add(options.initial ? *expiry : do_not_create);
    return counter_operation{*std::move(order)};
}

auto counter_operation::read(const kv_reply& reply) -> result<value_type>
{
    if (reply.value.size() != sizeof(std::uint64_t))
        return bad_reply("a counter that does not have eight bytes");
    auto token = read_token(reply);
    if (!token)
        return std::move(token).error();
    return value_type{load_big<std::uint64_t>(reply.value.data()), {reply.cas}, *std::move(token)};
}

}  // namespace holdfast::core::couchbase
