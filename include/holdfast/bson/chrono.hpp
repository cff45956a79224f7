#pragma once
#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/codec.hpp"
#include "holdfast/bson/errc.hpp"
#include "holdfast/bson/types.hpp"
#include "holdfast/error.hpp"

#include <chrono>
#include <cstdint>
#include <ratio>
#include <string_view>
#include <type_traits>
#include <utility>

namespace holdfast::bson {

/// A point in time of any precision is a datetime. BSON counts milliseconds: what is finer is
/// rounded down, also before 1970, and what lies beyond the range of either side is an error.
template <class Duration>
struct codec<std::chrono::sys_time<Duration>> {
    using point = std::chrono::sys_time<Duration>;

    static constexpr type written_as = type::datetime;

    static result<point> read(const element& e)
    {
        if (e.type() != type::datetime) [[unlikely]]
            return e.mismatch(name_of(type::datetime));
        const datetime found = e.as_datetime();
        if (!reachable(found))
            return reading::out_of_range(e, "the precision of this time point");
        return std::chrono::floor<Duration>(found);
    }
    static void write(auto& out, std::string_view key, const point& value)
    {
        if (writable_as_datetime(value))
            out.put(key, std::chrono::floor<std::chrono::milliseconds>(value));
        else
            out.fail(errc::out_of_range, key);
    }

private:
    using rep = typename Duration::rep;

    /// The same unit, counted in 64 bits.
    using wide =
        std::chrono::sys_time<std::chrono::duration<std::int64_t, typename Duration::period>>;

    static constexpr bool exact = std::is_integral_v<rep>;
    static constexpr bool finer =
        std::ratio_less_v<typename Duration::period, std::chrono::milliseconds::period>;

    static bool reachable(datetime found)
    {
        using std::chrono::milliseconds;
        if constexpr (!exact)
            return true;
        else if constexpr (finer)
            return found >= std::chrono::ceil<milliseconds>(point::min()) &&
                   found <= std::chrono::floor<milliseconds>(point::max());
        else
            return std::in_range<rep>(
                std::chrono::floor<typename wide::duration>(found).time_since_epoch().count());
    }
    static bool writable_as_datetime(const point& value)
    {
        if constexpr (!exact || finer) {
            return true;
        } else {
            constexpr auto first = std::chrono::ceil<typename wide::duration>(datetime::min());
            constexpr auto last = std::chrono::floor<typename wide::duration>(datetime::max());
            const auto count = value.time_since_epoch().count();
            return std::cmp_greater_equal(count, first.time_since_epoch().count()) &&
                   std::cmp_less_equal(count, last.time_since_epoch().count());
        }
    }
};

/// BSON has no durations. They are written as a number in their own unit, an int64 (or a double,
/// if they count in doubles): name the unit in the field, as in `timeout_ms`.
template <class Rep, class Period>
struct codec<std::chrono::duration<Rep, Period>> {
    using duration = std::chrono::duration<Rep, Period>;
    using number = std::conditional_t<std::is_floating_point_v<Rep>, double, std::int64_t>;

    static constexpr type written_as = std::is_floating_point_v<Rep> ? type::double_ : type::int64;

    static result<duration> read(const element& e)
    {
        const auto count = codec<Rep>::read(e);
        if (!count)
            return count.error();
        return duration{*count};
    }
    static void write(auto& out, std::string_view key, const duration& value)
    {
        out.put(key, static_cast<number>(value.count()));
    }
};

}  // namespace holdfast::bson
