#pragma once
#include "holdfast/couchbase/content.hpp"
#include "holdfast/couchbase/document.hpp"
#include "holdfast/error.hpp"

#include <optional>
#include <utility>
#include <vector>

/// Documents as they were stored, made into the caller's type.
namespace holdfast::couchbase::details {

template <class T>
result<document<T>> decoded(document<encoded_content> stored)
{
    auto content = decode_content<T>(std::move(stored.content));
    if (!content)
        return std::move(content).error();
    return document<T>{*std::move(content), stored.cas, stored.flags, stored.expiry};
}

template <class T>
result<std::optional<document<T>>> decoded(std::optional<document<encoded_content>> stored)
{
    if (!stored)
        return std::optional<document<T>>{};
    auto found = decoded<T>(*std::move(stored));
    if (!found)
        return std::move(found).error();
    return std::optional<document<T>>{*std::move(found)};
}

template <class T>
result<replica_document<T>> decoded(replica_document<encoded_content> stored)
{
    auto content = decode_content<T>(std::move(stored.content));
    if (!content)
        return std::move(content).error();
    return replica_document<T>{*std::move(content), stored.cas, stored.flags, stored.is_replica};
}

template <class T>
result<std::vector<replica_document<T>>> decoded(
    std::vector<replica_document<encoded_content>> stored)
{
    std::vector<replica_document<T>> all;
    all.reserve(stored.size());
    for (auto& one : stored) {
        auto made = decoded<T>(std::move(one));
        if (!made)
            return std::move(made).error();
        all.push_back(*std::move(made));
    }
    return all;
}

/// What becomes of an outcome of that type.
template <class T, class Stored>
using decoded_t = typename decltype(decoded<T>(std::declval<Stored>()))::value_type;

}  // namespace holdfast::couchbase::details
