#pragma once
#include "core/uri/option_text.hpp"
#include "holdfast/error.hpp"
#include "holdfast/secret.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// The options of a connection string as a table, one row per option. `Settings` is the struct of
/// one protocol, into which the values go.
namespace holdfast::core::uri {

/// The outcome of taking in one value. A note is for the user, and does not quote the value.
struct reading {
    enum class status : std::uint8_t { taken, ignored, fatal };

    status is = status::taken;
    std::string_view note = {};
};

/// The member of the settings in which a plain value is kept.
template <class Settings, class T>
using place = T& (*)(Settings&);

/// For values with a syntax of their own: how one is taken in, already decoded, and how it would be
/// written, once per occurrence.
template <class Settings>
struct custom_value {
    reading (*take)(Settings&, std::string_view value);
    std::vector<std::string> (*written)(const Settings&);
};

template <class Settings>
using storage =
    std::variant<place<Settings, bool>, place<Settings, std::optional<bool>>,
                 place<Settings, std::uint32_t>, place<Settings, std::optional<std::uint32_t>>,
                 place<Settings, std::int32_t>, place<Settings, std::chrono::milliseconds>,
                 place<Settings, std::optional<std::chrono::milliseconds>>,
                 place<Settings, std::string>, place<Settings, std::optional<std::string>>,
                 place<Settings, std::optional<secret>>, custom_value<Settings>>;

enum class if_repeated : std::uint8_t {
    last_counts,  // with a warning
    is_list,
    must_agree,  // two values that differ are an error
    is_error,
};

/// One option, and all there is to know about it.
template <class Settings>
struct option {
    std::string_view name;
    std::string_view meaning;
    storage<Settings> where;
    std::string_view allowed = {};  // empty: derived from the type and the bounds
    std::int64_t least = 0;
    std::int64_t most = std::numeric_limits<std::int32_t>::max();
    bool (*accepts)(std::string_view) = nullptr;  // text: beyond not being empty
    if_repeated repeated = if_repeated::last_counts;
    bool takes_units = false;  // milliseconds: "2.5s" is taken, too
    bool must_be_valid = false;  // a value that is not allowed is an error, not a warning
    bool allowed_in_txt = false;
    bool srv_only = false;
};

/// Another name for an option.
struct option_alias {
    std::string_view name;
    std::string_view stands_for;
    bool deprecated = true;
};

/// All options of one protocol, in the order of its reference page and of warnings.
template <class Settings>
struct option_table {
    std::span<const option<Settings>> options;
    std::span<const option_alias> aliases;
    error_code invalid_option;  // the code of errors about a value

    /// By its name, in any case; null if there is none. Aliases are not followed.
    const option<Settings>* find(std::string_view name) const noexcept
    {
        return find_in(options, name);
    }
    const option_alias* find_alias(std::string_view name) const noexcept
    {
        return find_in(aliases, name);
    }

private:
    template <class Row>
    static const Row* find_in(std::span<const Row> rows, std::string_view name) noexcept
    {
        const auto found = std::ranges::find_if(
            rows, [&](const Row& row) { return same_name(row.name, name); });
        return found == rows.end() ? nullptr : &*found;
    }
};

}  // namespace holdfast::core::uri
