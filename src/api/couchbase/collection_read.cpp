#include "api/couchbase/start_call.hpp"
#include "core/couchbase/operation/get.hpp"
#include "core/couchbase/operation/projected_get.hpp"
#include "core/couchbase/operation/subdoc.hpp"
#include "holdfast/couchbase/calls.hpp"

#include <utility>

namespace holdfast::couchbase::calls {

namespace {

/// get_operation with the content as it is handed to the caller.
struct raw_json_get_operation {
    using value_type = document<raw_json>;
    static constexpr bool is_answer(core::couchbase::kv_status status)
    {
        return core::couchbase::get_operation::is_answer(status);
    }
    static result<value_type> read(const core::couchbase::kv_reply& reply)
    {
        // What get_operation and decode_content<raw_json> do, without moving the text four times.
        std::uint32_t flags = 0;
        if (!core::couchbase::read_flags(reply, flags)) [[unlikely]]
            return core::couchbase::no_flags();
        if (format_of(flags) != content_format::json) [[unlikely]]
            return couchbase::details::flags_do_not_fit(flags, content_flags::json);
        return result<value_type>{std::in_place, raw_json{core::couchbase::as_text(reply.value)},
                                  cas{reply.cas}, flags, std::nullopt};
    }

    core::couchbase::kv_order order = {};
};

}  // namespace

result<core::couchbase::get_operation> build(get&& call,
                                             const core::couchbase::operation_context& in)
{
    return core::couchbase::get_operation::make(call.id, in);
}

result<core::couchbase::projected_get_operation> build(get_projected&& call,
                                                       const core::couchbase::operation_context& in)
{
    return core::couchbase::projected_get_operation::make(call.id, call.options, in);
}

result<raw_json_get_operation> build(get_raw_json&& call,
                                     const core::couchbase::operation_context& in)
{
    result<raw_json_get_operation> made{std::in_place};
    auto problem = core::couchbase::begin_order(made->order, core::couchbase::kv_opcode::get, "get",
                                                call.id, in);
    if (problem) [[unlikely]]
        made = *std::move(problem);
    return made;
}

result<core::couchbase::get_if_operation> build(get_if&& call,
                                                const core::couchbase::operation_context& in)
{
    return core::couchbase::get_if_operation::make(call.id, in);
}

result<core::couchbase::projected_get_if_operation> build(
    get_if_projected&& call, const core::couchbase::operation_context& in)
{
    return core::couchbase::projected_get_if_operation::make(call.id, call.options, in);
}

result<core::couchbase::get_and_touch_operation> build(get_and_touch&& call,
                                                       const core::couchbase::operation_context& in)
{
    return core::couchbase::get_and_touch_operation::make(call.id, call.expiry, in);
}

result<core::couchbase::get_and_lock_operation> build(get_and_lock&& call,
                                                      const core::couchbase::operation_context& in)
{
    return core::couchbase::get_and_lock_operation::make(call.id, call.time, in);
}

result<core::couchbase::exists_operation> build(exists&& call,
                                                const core::couchbase::operation_context& in)
{
    return core::couchbase::exists_operation::make(call.id, in);
}

result<core::couchbase::lookup_in_operation> build(lookup_in&& call,
                                                   const core::couchbase::operation_context& in)
{
    return core::couchbase::lookup_in_operation::make(call.id, *call.paths, call.options, in);
}

}  // namespace holdfast::couchbase::calls

namespace holdfast::couchbase::details {

template struct starter<calls::get>;
template struct starter<calls::get_raw_json>;
template struct starter<calls::get_projected>;
template struct starter<calls::get_if>;
template struct starter<calls::get_if_projected>;
template struct starter<calls::get_and_touch>;
template struct starter<calls::get_and_lock>;
template struct starter<calls::exists>;
template struct starter<calls::lookup_in>;

}  // namespace holdfast::couchbase::details
