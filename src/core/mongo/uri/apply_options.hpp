#pragma once
#include "core/mongo/settings/client_settings.hpp"
#include "core/mongo/uri/connection_string.hpp"

#include <span>
#include <string>
#include <vector>

namespace holdfast::core::mongo {

struct option_text {
    std::span<const raw_option> options = {};
    bool may_quote_names = true;  // see connection_string
};

/// Takes options over into `settings`, and says what was unknown, repeated, outdated or not
/// allowed. Some mistakes are errors: those after which the client would be less safe than it was
/// told to be.
result<std::vector<std::string>> apply_options(const option_text& text, client_settings& settings);

}  // namespace holdfast::core::mongo
