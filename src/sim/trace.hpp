#pragma once
#include "sim/timeline.hpp"

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::sim {

enum class traced : std::uint8_t {
    note,
    dialled,
    connected,
    accepted,
    cut,
    sent,
    received,
    swallowed,
    recovered,
    finished,
    reset,
    window,
    looked_up,
    rung,
    crashed,
    restarted,
    frozen,
    thawed,
    jumped,
};

/// The history of a simulation: a number always, lines for people if they are wanted. Nothing goes
/// into the number that could differ between two processes or builds.
class trace {
public:
    explicit trace(const timeline& time) : time_{time} {}

    /// `line` makes the text, and is called only if the lines are kept.
    template <std::invocable Line>
    void add(traced what, std::size_t host, std::initializer_list<std::uint64_t> numbers,
             const Line& line)
    {
        const auto since_start = (time_.now() - timeline::start).count();
        fold(static_cast<std::uint64_t>(since_start));
        fold(static_cast<std::uint64_t>(what) << 32 | static_cast<std::uint64_t>(host));
        for (const std::uint64_t number : numbers)
            fold(number);
        if (keep_)
            keep_line(line());
    }

    std::uint64_t hash() const noexcept { return hash_; }
    void keep(bool on) noexcept { keep_ = on; }
    const std::vector<std::string>& lines() const noexcept { return lines_; }

private:
    void fold(std::uint64_t number) noexcept
    {
        hash_ = (hash_ ^ number) * 0x9fb21c651e98df25;
        hash_ ^= hash_ >> 29;
    }
    void keep_line(std::string line);

    static constexpr std::size_t lines_max = 1'000'000;  // then the older half goes

    const timeline& time_;
    std::uint64_t hash_ = 0xcbf29ce484222325;
    bool keep_ = false;
    std::vector<std::string> lines_;
};

/// The same on all machines, whatever their byte order.
std::uint64_t content_hash(std::span<const std::uint8_t> bytes) noexcept;
std::uint64_t content_hash(std::string_view text) noexcept;

}  // namespace holdfast::sim
