#pragma once
#include <cassert>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace holdfast::core::mongo {

/// Puts the records of a look-up into an order that the caller has drawn, by a number in [0, 1) for
/// each: every order is as likely. `srvMaxHosts` takes the first, of the first look-up and of each
/// later one; and RFC 2782 wants it among equals.
template <class Record>
void draw_order(std::vector<Record>& records, std::span<const double> chances)
{
    assert(chances.size() >= records.size());
    for (std::size_t left = records.size(); left > 1; --left) {
        const double chance = chances[left - 1];
        assert(chance >= 0 && chance < 1);
        const auto drawn = static_cast<std::size_t>(chance * static_cast<double>(left));
        std::swap(records[drawn], records[left - 1]);
    }
}

}  // namespace holdfast::core::mongo
