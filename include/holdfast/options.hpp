#pragma once
#include <concepts>
#include <type_traits>

namespace holdfast {

/// Options are written in place: `co_await users.insert_one(doc, {.comment = "x"})`. gcc 12.2
/// destroys the members of such a temporary twice, unless they need no destruction. So options hold
/// views and numbers, and a call copies what it must keep before it first suspends.
template <class T>
concept option_struct = std::is_aggregate_v<T> && std::is_trivially_destructible_v<T> &&
                        std::is_trivially_copyable_v<T> && std::default_initializable<T>;

}  // namespace holdfast
