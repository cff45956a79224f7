#include "api/couchbase/replica_reads.hpp"

#include "core/couchbase/operation/get.hpp"
#include "core/couchbase/operation/subdoc.hpp"
#include "holdfast/couchbase/calls.hpp"

#include <algorithm>

namespace holdfast::couchbase {

namespace {

using found_copy = replica_document<encoded_content>;

std::string name_of_copy(std::size_t copy)
{
    return copy == 0 ? "the active copy" : "replica " + std::to_string(copy);
}

/// get_replica_operation with what its caller gets.
struct copy_get {
    using value_type = found_copy;
    static constexpr bool is_answer(core::couchbase::kv_status status)
    {
        return core::couchbase::get_replica_operation::is_answer(status);
    }
    result<value_type> read(const core::couchbase::kv_reply& reply) const
    {
        auto stored = core::couchbase::read_document(reply);
        if (!stored)
            return std::move(stored).error();
        return value_type{std::move(stored->content), stored->cas, stored->flags, order.copy != 0};
    }

    core::couchbase::kv_order order;
};

/// lookup_in_operation likewise.
struct copy_lookup {
    using value_type = replica_lookup_result;
    static constexpr bool is_answer(core::couchbase::kv_status status)
    {
        return core::couchbase::lookup_in_operation::is_answer(status);
    }
    result<value_type> read(const core::couchbase::kv_reply& reply) const
    {
        auto found = lookup.read(reply);
        if (!found)
            return std::move(found).error();
        return value_type{*std::move(found), order.copy != 0};
    }

    core::couchbase::kv_order order;
    core::couchbase::lookup_in_operation lookup;  // all but its order
};

template <class Call>
auto reads_of(const collection_place& in, const Call& call)
{
    if constexpr (requires { call.paths; }) {
        return details::make_reads<replica_lookup_result>(
            in, call,
            [&](std::uint8_t copy,
                const core::couchbase::operation_context& context) -> result<copy_lookup> {
                auto made = core::couchbase::lookup_in_operation::make_for_copy(
                    call.id, *call.paths, copy, call.options.read_preference, context);
                if (!made)
                    return std::move(made).error();
                core::couchbase::kv_order order = std::move(made->order);
                return copy_lookup{std::move(order), *std::move(made)};
            });
    } else {
        return details::make_reads<found_copy>(
            in, call,
            [&](std::uint8_t copy,
                const core::couchbase::operation_context& context) -> result<copy_get> {
                auto made = core::couchbase::get_replica_operation::make(
                    call.id, copy, call.options.read_preference, context);
                if (!made)
                    return std::move(made).error();
                return copy_get{std::move(made->order)};
            });
    }
}

template <class T>
runtime::awaitable<T> value_or_throw(runtime::awaitable<result<T>> from)
{
    auto got = co_await std::move(from);
    co_return std::move(got).value();
}

template <class Call>
runtime::awaitable<result<typename Call::value_type>> read_copies(const collection_place& in,
                                                                  const Call& call)
{
    using value_type = typename Call::value_type;
    auto made = reads_of(in, call);
    if (!made)
        return details::failed_call<result<value_type>, value_type>(std::move(made).error());
    if constexpr (requires(value_type all) { all.push_back(std::move(all.front())); })
        return details::gather(*std::move(made), details::copies_wanted::all);
    else
        return details::first_of(*std::move(made));
}

/// An error of a copy that no node has says nothing about the document.
bool is_absent(const error& why)
{
    return why.code() == errc::document_irretrievable;
}

}  // namespace

namespace details {

error no_copy_read(std::vector<error> of)
{
    std::vector<attempt> history;
    std::string message = "no copy of the document could be read";
    const error* first = nullptr;
    bool agree = true;
    for (std::size_t copy = 0; copy != of.size(); ++copy) {
        const error& one = of[copy];
        history.insert(history.end(), one.history().begin(), one.history().end());
        if (is_absent(one))
            continue;
        message += (first == nullptr ? ": " : "; ") + name_of_copy(copy) + ": " + one.message();
        agree = agree && (first == nullptr || first->code() == one.code());
        first = first == nullptr ? &one : first;
    }
    if (first == nullptr)
        message += ": no node has one that may be read";
    // All nodes say that there is no such document: then it is known, and yet no copy was found.
    const bool is_common = first != nullptr && agree && first->code() != errc::document_not_found;
    error made{is_common ? first->code() : make_error_code(errc::document_irretrievable),
               std::move(message)};
    const error* const place = first != nullptr ? first : of.empty() ? nullptr : &of.front();
    if (place != nullptr) {
        for (const context_entry& fact : place->context())
            made = std::move(made).with_context(fact.name, fact.value);
    }
    return std::move(made).with_history(std::move(history));
}

std::size_t copies_to_ask(const collection_place& in)
{
    const auto config = in.open()->config();
    return config && config->bucket ? config->bucket->map.copies()
                                    : core::couchbase::max_replicas + 1;
}

std::optional<error> check_preference(const collection_place& in, read_preference preference)
{
    if (preference == read_preference::none || in.cluster->settings.server_group)
        return std::nullopt;
    return error{errc::invalid_argument,
                 "a read_preference needs the connection string's option server_group"};
}

template <>
asio::awaitable<calls::get_any_replica::value_type> starter<calls::get_any_replica>::start(
    const collection_place& in, calls::get_any_replica&& call)
{
    return value_or_throw(read_copies(in, call));
}

template <>
asio::awaitable<result<calls::get_any_replica::value_type>>
starter<calls::get_any_replica>::try_start(const collection_place& in,
                                           calls::get_any_replica&& call)
{
    return read_copies(in, call);
}

template <>
result<calls::get_any_replica::value_type> starter<calls::get_any_replica>::block(
    const collection_place& in, calls::get_any_replica&& call, blocking_bridge& on)
{
    return on.wait(read_copies(in, call));
}

template <>
asio::awaitable<calls::get_all_replicas::value_type> starter<calls::get_all_replicas>::start(
    const collection_place& in, calls::get_all_replicas&& call)
{
    return value_or_throw(read_copies(in, call));
}

template <>
asio::awaitable<result<calls::get_all_replicas::value_type>>
starter<calls::get_all_replicas>::try_start(const collection_place& in,
                                            calls::get_all_replicas&& call)
{
    return read_copies(in, call);
}

template <>
result<calls::get_all_replicas::value_type> starter<calls::get_all_replicas>::block(
    const collection_place& in, calls::get_all_replicas&& call, blocking_bridge& on)
{
    return on.wait(read_copies(in, call));
}

template <>
asio::awaitable<calls::lookup_in_any_replica::value_type>
starter<calls::lookup_in_any_replica>::start(const collection_place& in,
                                             calls::lookup_in_any_replica&& call)
{
    return value_or_throw(read_copies(in, call));
}

template <>
asio::awaitable<result<calls::lookup_in_any_replica::value_type>>
starter<calls::lookup_in_any_replica>::try_start(const collection_place& in,
                                                 calls::lookup_in_any_replica&& call)
{
    return read_copies(in, call);
}

template <>
result<calls::lookup_in_any_replica::value_type> starter<calls::lookup_in_any_replica>::block(
    const collection_place& in, calls::lookup_in_any_replica&& call, blocking_bridge& on)
{
    return on.wait(read_copies(in, call));
}

template <>
asio::awaitable<calls::lookup_in_all_replicas::value_type>
starter<calls::lookup_in_all_replicas>::start(const collection_place& in,
                                              calls::lookup_in_all_replicas&& call)
{
    return value_or_throw(read_copies(in, call));
}

template <>
asio::awaitable<result<calls::lookup_in_all_replicas::value_type>>
starter<calls::lookup_in_all_replicas>::try_start(const collection_place& in,
                                                  calls::lookup_in_all_replicas&& call)
{
    return read_copies(in, call);
}

template <>
result<calls::lookup_in_all_replicas::value_type> starter<calls::lookup_in_all_replicas>::block(
    const collection_place& in, calls::lookup_in_all_replicas&& call, blocking_bridge& on)
{
    return on.wait(read_copies(in, call));
}

}  // namespace details

}  // namespace holdfast::couchbase
