#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace holdfast::lab::mongo {

/// Finds one of a few names that are known when the program is compiled: mostly by one look at its
/// length and two of its characters, and one comparison.
template <std::size_t Count>
class name_table {
public:
    static constexpr std::size_t none = Count;

    /// `name_of` gives the name of an entry.
    template <class Entry, class NameOf>
    constexpr name_table(const Entry (&entries)[Count], NameOf name_of)
    {
        for (std::size_t i = 0; i != Count; ++i) {
            names_[i] = name_of(entries[i]);
            std::size_t at = home(names_[i]);
            while (slots_[at] != 0)
                at = (at + 1) % size;
            slots_[at] = static_cast<std::uint8_t>(i + 1);
        }
    }

    /// The place of the entry with this name, or `none`.
    constexpr std::size_t find(std::string_view name) const noexcept
    {
        if (name.empty())
            return none;
        for (std::size_t at = home(name); slots_[at] != 0; at = (at + 1) % size) {
            if (names_[slots_[at] - 1U] == name)
                return slots_[at] - 1U;
        }
        return none;
    }

private:
    static_assert(Count != 0 && Count < 128);
    static constexpr std::size_t size = std::bit_ceil(Count * 4);  // most names have a slot alone

    static constexpr std::size_t home(std::string_view name) noexcept
    {
        const auto last = static_cast<unsigned char>(name.back());
        const auto middle = static_cast<unsigned char>(name[name.size() / 2]);
        return (name.size() * 5 + last * 3U + middle) % size;
    }

    std::array<std::string_view, Count> names_{};
    std::array<std::uint8_t, size> slots_{};  // 0: empty, else the place and one
};

}  // namespace holdfast::lab::mongo
