#pragma once
#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/codec.hpp"
#include "holdfast/bson/read_into.hpp"
#include "holdfast/bson/types.hpp"
#include "holdfast/error.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace holdfast::bson {

/// "Nothing" as an alternative of a variant.
template <>
struct codec<std::monostate> : unit_codec<type::null, std::monostate> {
    static constexpr type written_as = type::null;
    static void write(auto& out, std::string_view key, std::monostate) { out.put(key, null{}); }
};

/// Written as the alternative it holds, without any mark. Read as the first alternative that is
/// written as the BSON type found and whose read succeeds; only if there is none, as the first of
/// the others whose read succeeds. So int64 and double keep apart, and an int32 finds its way into
/// either if nothing fits better. Among structs, put those with more required fields first.
template <class... Alternatives>
struct codec<std::variant<Alternatives...>> {
    using variant = std::variant<Alternatives...>;

    static result<variant> read(const element& e) { return reading::value<variant>(e); }
    static bool read_into(const element& e, variant& to, reading::state& at)
    {
        if (e.malformed())
            return at.fail(e.mismatch("a value"));
        // Variants within variants can be tried in exponentially many ways, and bytes from outside
        // may ask for all of them: the outermost one sets a limit in proportion to its size.
        const bool outermost = !std::exchange(at.trying, true);
        if (outermost)
            at.budget = retries * (e.value_bytes().size() + price_of_failure) + first_budget;
        const bool done = try_all(e, to, at);
        at.trying = !outermost;
        return done;
    }
    static void write(auto& out, std::string_view key, const variant& value)
    {
        std::visit([&](const auto& held) { out.add(key, held); }, value);
    }

private:
    static constexpr std::size_t retries = 64;
    static constexpr std::size_t price_of_failure = 64;  // making an error costs about as much
    static constexpr std::size_t first_budget = 64 * 1024;

    static bool try_all(const element& e, variant& to, reading::state& at)
    {
        std::optional<error> best;
        int of_same_type = 0;
        const auto attempt = [&]<class T>(std::in_place_type_t<T>, bool same_type) {
            if ((reading::written_as<T>() == e.type()) != same_type || at.budget == 0)
                return false;
            const auto make = [&](auto&&... from) -> T& {
                return to.template emplace<T>(std::forward<decltype(from)>(from)...);
            };
            if (reading::into_new<T>(e, at, make))
                return true;
            at.budget -= std::min(at.budget, e.value_bytes().size() + price_of_failure);
            if (same_type) {
                best = *std::move(at.fault);
                ++of_same_type;
            }
            return false;
        };
        if ((attempt(std::in_place_type<Alternatives>, true) || ...) ||
            (attempt(std::in_place_type<Alternatives>, false) || ...))
            return true;
        if (at.budget == 0)
            return at.fail(reading::too_many_alternatives(e));
        // One alternative of the right type: its own error says more than a list of alternatives.
        if (of_same_type == 1)
            return at.fail(*std::move(best));
        return at.fail(
            e.mismatch("one of " + std::to_string(sizeof...(Alternatives)) + " alternatives"));
    }
};

}  // namespace holdfast::bson
