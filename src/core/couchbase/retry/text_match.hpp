#pragma once
#include <span>
#include <string_view>

namespace holdfast::core::couchbase {

/// Whether the tokens follow one another somewhere in the text, with any white space between them.
/// White space is also what a JSON string writes for it: the two characters \n, \r or \t. View
/// engines break long lines inside of error texts, and indent the rest.
bool contains_tokens(std::string_view text, std::span<const std::string_view> tokens);

bool contains_ignoring_case(std::string_view text, std::string_view lower_case_text);

/// "reason":"missing", in the body of a view's 404: the design document is on its way.
bool says_missing(std::string_view body);

/// In the body of a view's 500: no retry will help, as the view does not exist or the request is
/// wrong.
bool says_hopeless(std::string_view body);

}  // namespace holdfast::core::couchbase
