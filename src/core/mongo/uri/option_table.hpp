#pragma once
#include "core/mongo/settings/client_settings.hpp"
#include "core/uri/option_table.hpp"
#include "core/uri/option_value.hpp"

#include <span>
#include <string_view>

namespace holdfast::core::mongo {

using uri::allowed_values;
using uri::if_repeated;
using uri::option_alias;
using uri::reading;
using uri::take_value;
using uri::written;

using option = uri::option<client_settings>;
using custom_value = uri::custom_value<client_settings>;
template <class T>
using place = uri::place<client_settings, T>;

/// MongoDB's options: those of the drivers' specification, and a few of Holdfast's own.
const uri::option_table<client_settings>& option_table() noexcept;

inline std::span<const option> all_options() noexcept
{
    return option_table().options;
}
inline std::span<const option_alias> all_aliases() noexcept
{
    return option_table().aliases;
}
inline const option* find_option(std::string_view name) noexcept
{
    return option_table().find(name);
}

}  // namespace holdfast::core::mongo
