#include "api/couchbase/start_call.hpp"
#include "core/couchbase/operation/store.hpp"
#include "core/couchbase/operation/subdoc.hpp"
#include "holdfast/couchbase/calls.hpp"
#include "shell/spare_buffers.hpp"

#include <utility>

namespace holdfast::couchbase::calls {

bson::byte_buffer spare_buffer() noexcept
{
    return shell::spare_buffers::take();
}

namespace {

/// A document that is stored as a whole, by whichever of the three ways.
template <class Operation, class Call>
result<Operation> build_store(Call&& call, const core::couchbase::operation_context& in)
{
    if (call.content.problem) [[unlikely]]
        return *std::move(call.content.problem);
    return Operation::make(call.id, {std::move(call.content.bytes), call.content.flags},
                           call.options, in);
}

template <class Call>
result<core::couchbase::append_operation> build_append(core::couchbase::which_end end,
                                                       const Call& call,
                                                       const core::couchbase::operation_context& in)
{
    bson::byte_buffer bytes;
    const auto added = call.bytes.bytes();
    couchbase::details::append(bytes, added.data(), added.size());
    return core::couchbase::append_operation::make(end, call.id, std::move(bytes), call.options,
                                                   in);
}

}  // namespace

result<core::couchbase::upsert_operation> build(upsert&& call,
                                                const core::couchbase::operation_context& in)
{
    return build_store<core::couchbase::upsert_operation>(std::move(call), in);
}

result<core::couchbase::insert_operation> build(insert&& call,
                                                const core::couchbase::operation_context& in)
{
    return build_store<core::couchbase::insert_operation>(std::move(call), in);
}

result<core::couchbase::replace_operation> build(replace&& call,
                                                 const core::couchbase::operation_context& in)
{
    return build_store<core::couchbase::replace_operation>(std::move(call), in);
}

result<core::couchbase::remove_operation> build(remove&& call,
                                                const core::couchbase::operation_context& in)
{
    return core::couchbase::remove_operation::make(call.id, call.options, in);
}

result<core::couchbase::touch_operation> build(touch&& call,
                                               const core::couchbase::operation_context& in)
{
    return core::couchbase::touch_operation::make(call.id, call.expiry, in);
}

result<core::couchbase::unlock_operation> build(unlock&& call,
                                                const core::couchbase::operation_context& in)
{
    return core::couchbase::unlock_operation::make(call.id, call.cas, in);
}

result<core::couchbase::append_operation> build(append&& call,
                                                const core::couchbase::operation_context& in)
{
    return build_append(core::couchbase::which_end::back, call, in);
}

result<core::couchbase::append_operation> build(prepend&& call,
                                                const core::couchbase::operation_context& in)
{
    return build_append(core::couchbase::which_end::front, call, in);
}

result<core::couchbase::counter_operation> build(increment&& call,
                                                 const core::couchbase::operation_context& in)
{
    return core::couchbase::counter_operation::make(core::couchbase::direction::up, call.id,
                                                    call.options, in);
}

result<core::couchbase::counter_operation> build(decrement&& call,
                                                 const core::couchbase::operation_context& in)
{
    return core::couchbase::counter_operation::make(core::couchbase::direction::down, call.id,
                                                    call.options, in);
}

result<core::couchbase::mutate_in_operation> build(mutate_in&& call,
                                                   const core::couchbase::operation_context& in)
{
    return core::couchbase::mutate_in_operation::make(call.id, *call.what, call.options, in);
}

}  // namespace holdfast::couchbase::calls

namespace holdfast::couchbase::details {

template struct starter<calls::upsert>;
template struct starter<calls::insert>;
template struct starter<calls::replace>;
template struct starter<calls::remove>;
template struct starter<calls::touch>;
template struct starter<calls::unlock>;
template struct starter<calls::append>;
template struct starter<calls::prepend>;
template struct starter<calls::increment>;
template struct starter<calls::decrement>;
template struct starter<calls::mutate_in>;

}  // namespace holdfast::couchbase::details
