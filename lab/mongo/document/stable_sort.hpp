#pragma once
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace holdfast::lab {

/// Sorts; what is equal keeps its order. In place of std::stable_sort, whose body in libstdc++ 12
/// uses what libstdc++ 12 calls deprecated, so that clang refuses it.
template <class T, class Less>
void sort_stably(std::vector<T>& what, const Less& less)
{
    std::vector<std::size_t> order(what.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
        if (less(what[a], what[b]))
            return true;
        return !less(what[b], what[a]) && a < b;
    });
    std::vector<T> sorted;
    sorted.reserve(what.size());
    for (const std::size_t at : order)
        sorted.push_back(std::move(what[at]));
    what = std::move(sorted);
}

}  // namespace holdfast::lab
