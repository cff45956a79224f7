#pragma once
#include "holdfast/error.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::core::mongo {

inline constexpr std::size_t longest_connection_string = 65'536;

/// One key=value as it was written, the value not yet decoded.
struct raw_option {
    std::string name;
    std::string value;
};

/// A connection string taken apart, before anything is known about options. All parts but the
/// values of options are decoded.
struct connection_string {
    bool srv = false;
    std::optional<std::string> username = {};
    std::optional<std::string> password = {};
    std::vector<std::string> hosts = {};
    std::optional<std::string> database = {};
    std::vector<raw_option> options = {};

    /// False if an '@' stands where a password with a '/' or a '?' in it would have left one: then
    /// what looks like the name of an option may be a piece of that password.
    bool may_quote_names = true;
};

/// Splits the text. Errors never quote from it, for in a string that is not well formed nobody
/// knows where the password is.
result<connection_string> split_connection_string(std::string_view text);

/// The part after the question mark, which is also what a TXT record holds.
result<std::vector<raw_option>> split_options(std::string_view text);

}  // namespace holdfast::core::mongo
