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

std::optional<error> write_order(kv_order& order, kv_opcode opcode, std::string_view operation,
                                 std::string_view key, const write_request& options,
                                 const operation_context& in)
{
    if (options.preserve_expiry && !options.expiry.is_never()) [[unlikely]]
        return error{errc::invalid_argument,
                     "preserve_expiry and an expiry cannot be asked for together"};
    if (options.durability != cb::durability::none || options.preserve_expiry) {
        auto infos = write_infos(options.durability, options.preserve_expiry, in);
        if (!infos)
            return std::move(infos).error();
        order.infos = *infos;
    }
    order.cas = options.cas.value;
    return begin_order(order, opcode, operation, key, in);
}

/// A document is stored with its flags and expiry.
std::optional<error> store_order(kv_order& order, kv_opcode opcode, std::string_view operation,
                                 std::string_view key, stored_content&& content,
                                 const write_request& options, const operation_context& in)
{
    auto problem = write_order(order, opcode, operation, key, options, in);
    if (problem) [[unlikely]]
        return problem;
    std::uint32_t expiry = 0;
    if (!options.expiry.is_never()) {
        const auto number = expiry_number(options.expiry, in);
        if (!number)
            return number.error();
        expiry = *number;
    }
    order.extras.add(content.flags);
    order.extras.add(expiry);
    order.value = std::move(content.bytes);
    order.may_compress = true;
    return std::nullopt;
}

/// An operation whose order is made where it lies; `fill` gives the error of one that cannot be.
template <class Operation, class Fill>
result<Operation> made_by(Fill&& fill)
{
    // One return statement: with two the order would be made elsewhere, and moved.
    result<Operation> made{std::in_place};
    if (std::optional<error> problem = fill(made->order)) [[unlikely]]
        made = *std::move(problem);
    return made;
}

}  // namespace

result<upsert_operation> upsert_operation::make(std::string_view key, stored_content&& content,
                                                const cb::upsert_options& options,
                                                const operation_context& in)
{
    return made_by<upsert_operation>([&](kv_order& order) {
        return store_order(order, kv_opcode::upsert, "upsert", key, std::move(content),
                           {options.durability, options.expiry, options.preserve_expiry}, in);
    });
}

result<insert_operation> insert_operation::make(std::string_view key, stored_content&& content,
                                                const cb::insert_options& options,
                                                const operation_context& in)
{
    return made_by<insert_operation>([&](kv_order& order) {
        return store_order(order, kv_opcode::insert, "insert", key, std::move(content),
                           {options.durability, options.expiry}, in);
    });
}

result<replace_operation> replace_operation::make(std::string_view key, stored_content&& content,
                                                  const cb::replace_options& options,
                                                  const operation_context& in)
{
    return made_by<replace_operation>([&](kv_order& order) {
        return store_order(
            order, kv_opcode::replace, "replace", key, std::move(content),
            {options.durability, options.expiry, options.preserve_expiry, options.cas}, in);
    });
}

result<remove_operation> remove_operation::make(std::string_view key,
                                                const cb::remove_options& options,
                                                const operation_context& in)
{
    return made_by<remove_operation>([&](kv_order& order) {
        return write_order(order, kv_opcode::remove, "remove", key,
                           {.durability = options.durability, .cas = options.cas}, in);
    });
}

result<touch_operation> touch_operation::make(std::string_view key, const cb::expiry& expiry,
                                              const operation_context& in)
{
    const auto number = expiry_number(expiry, in);
    if (!number)
        return number.error();
    return made_by<touch_operation>([&](kv_order& order) {
        order.extras.add(*number);
        return begin_order(order, kv_opcode::touch, "touch", key, in);
    });
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
    return made_by<unlock_operation>([&](kv_order& order) {
        order.cas = cas.value;
        return begin_order(order, kv_opcode::unlock, "unlock", key, in);
    });
}

result<append_operation> append_operation::make(which_end end, std::string_view key,
                                                bson::byte_buffer bytes,
                                                const cb::append_options& options,
                                                const operation_context& in)
{
    const bool back = end == which_end::back;
    return made_by<append_operation>([&](kv_order& order) {
        order.value = std::move(bytes);
        order.may_compress = true;
        return write_order(order, back ? kv_opcode::append : kv_opcode::prepend,
                           back ? "append" : "prepend", key,
                           {.durability = options.durability, .cas = options.cas}, in);
    });
}

result<counter_operation> counter_operation::make(direction which, std::string_view key,
                                                  const cb::counter_options& options,
                                                  const operation_context& in)
{
    constexpr std::uint32_t do_not_create = 0xffffffff;
    const bool up = which == direction::up;
    const auto expiry = expiry_number(options.expiry, in);
    if (!expiry)
        return expiry.error();
    return made_by<counter_operation>([&](kv_order& order) {
        order.extras.add(options.delta);
        order.extras.add(options.initial.value_or(0));
        order.extras.add(options.initial ? *expiry : do_not_create);
        return write_order(order, up ? kv_opcode::increment : kv_opcode::decrement,
                           up ? "increment" : "decrement", key,
                           {.durability = options.durability,
                            .expiry = options.expiry,
                            .preserve_expiry = options.preserve_expiry},
                           in);
    });
}

auto counter_operation::read(const kv_reply& reply) -> result<value_type>
{
    if (reply.value.size() != sizeof(std::uint64_t))
        return bad_reply("a counter that does not have eight bytes");
    result<value_type> read{std::in_place};
    read->value = load_big<std::uint64_t>(reply.value.data());
    read->cas.value = reply.cas;
    if (auto problem = read_token(reply, read->token))
        return *std::move(problem);
    return read;
}

}  // namespace holdfast::core::couchbase
