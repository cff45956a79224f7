#pragma once
#include "holdfast/blocking.hpp"
#include "holdfast/completion.hpp"

#include <memory>
#include <utility>

namespace holdfast::couchbase {

struct access;
struct cluster_impl;
struct collection_place;

namespace details {

/// Starts a call of calls.hpp, and copies all of its arguments that it needs later. The bodies are
/// in src/api/couchbase/start_call.hpp, instantiated in the library for each call.
template <class Call>
struct starter {
    using value_type = typename Call::value_type;

    /// Throws `failure` when it is awaited.
    static asio::awaitable<value_type> start(const collection_place& in, Call&& call);
    static asio::awaitable<result<value_type>> try_start(const collection_place& in, Call&& call);
    /// On the calling thread, until it has ended.
    static result<value_type> block(const collection_place& in, Call&& call, blocking_bridge& on);
};

/// In the place of a completion token: the call returns when the operation has ended.
struct blocks_on {
    blocking_bridge* bridge;
};

/// The executor of the cluster that a collection belongs to.
asio::any_io_executor executor_of(const collection_place& of) noexcept;

}  // namespace details

}  // namespace holdfast::couchbase
