#pragma once
#include "core/mongo/error/errc.hpp"
#include "core/uri/option_text.hpp"
#include "holdfast/error.hpp"
#include "holdfast/secret.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::core::mongo {

inline constexpr std::size_t longest_connection_string = 65'536;

using uri::raw_option;

inline error malformed_connection_string(std::string why)
{
    return error{errc::invalid_connection_string, "connection string: " + std::move(why)};
}

/// A connection string taken apart, before anything is known about options. All parts but the
/// values of options are decoded.
struct connection_string {
    bool srv = false;
    std::optional<std::string> username = {};
    std::optional<secret> password = {};
    std::vector<std::string> hosts = {};
    std::optional<std::string> database = {};
    std::vector<raw_option> options = {};

    /// False if an '@' stands where a password with a '/' or a '?' in it would have left one: then
    /// what looks like the name of an option may be a piece of that password.
    bool may_quote_names = true;
};

/// Splits the text. Errors never quote from it: in a malformed string any part may be the
/// password.
result<connection_string> split_connection_string(std::string_view text);

}  // namespace holdfast::core::mongo
