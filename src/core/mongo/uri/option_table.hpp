#pragma once
#include "core/mongo/settings/client_settings.hpp"

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace holdfast::core::mongo {

/// What became of a value. A note is for the user, without what he wrote.
struct reading {
    enum class status : std::uint8_t { taken, ignored, fatal };

    status is = status::taken;
    std::string_view note = {};
};

/// Where plain values live.
template <class T>
using place = T& (*)(client_settings&);

/// For values with a syntax of their own: how to take one in, already decoded, and how it would be
/// written, once per occurrence.
struct custom_value {
    reading (*take)(client_settings&, std::string_view value);
    std::vector<std::string> (*written)(const client_settings&);
};

using storage =
    std::variant<place<bool>, place<std::optional<bool>>, place<std::uint32_t>,
                 place<std::optional<std::uint32_t>>, place<std::int32_t>,
                 place<std::chrono::milliseconds>, place<std::optional<std::chrono::milliseconds>>,
                 place<std::string>, place<std::optional<std::string>>, custom_value>;

enum class if_repeated : std::uint8_t {
    last_counts,  // with a warning
    is_list,
    must_agree,  // two values that differ are an error
    is_error,
};

/// One option of a connection string, and all there is to know about it.
struct option {
    std::string_view name;
    std::string_view meaning;
    storage where;
    std::string_view allowed = {};  // empty: as the type and the bounds say
    std::int64_t least = 0;
    std::int64_t most = std::numeric_limits<std::int32_t>::max();
    bool (*accepts)(std::string_view) = nullptr;  // text: beyond not being empty
    if_repeated repeated = if_repeated::last_counts;
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

/// In the order of the reference page, and of warnings.
std::span<const option> all_options() noexcept;
std::span<const option_alias> all_aliases() noexcept;

/// By its name, in any case; null if there is none. Aliases are not followed.
const option* find_option(std::string_view name) noexcept;
const option_alias* find_alias(std::string_view name) noexcept;

/// "true or false", "milliseconds from 500 on".
std::string allowed_values(const option& which);

/// Takes in one value, already decoded.
reading take_value(const option& which, client_settings& settings, std::string_view value);

/// How the setting would be written, not encoded; more than one for a list, none if it is not set.
/// Secrets too: never to be logged.
std::vector<std::string> written(const option& which, const client_settings& settings);

}  // namespace holdfast::core::mongo
