#pragma once
#include <boost/json.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::spec::unified {

/// How JSON must be built, written as a grammar; see schema_text.cpp for one. A rule is a name, "="
/// and a shape:
///
///     string bool int object any        a value of that kind
///     version                           a text such as "1.2" or "4.4.0"
///     "a" | "b"                         one of these texts; alternatives can be any shapes
///     true                              this value
///     [x]  [x+]                         an array of x; with "+" of at least one
///     {a: x, b?: y}                     an object with these keys and no others; "?" may be absent
///     {1 ...}  {+ ...}                  ... with exactly, or at least, one of them
///     {* : x}                           any keys
///     {a: x, ...}                       any other keys too
///     {a*?: x}                          the key a, or a colon and a word behind it
///     {a?: x, b?: y, !a&b, !c}          not both a and b, and no c at all
class grammar {
public:
    /// Throws std::logic_error if it is none.
    explicit grammar(std::string_view text);
    ~grammar();

    /// What is wrong with a value by the rule of that name, with the path to it: "tests.0 is
    /// empty". Nothing if all is right.
    std::optional<std::string> fault(std::string_view rule, const boost::json::value& value) const;

private:
    struct rules;
    std::unique_ptr<const rules> rules_;
};

/// That of the unified test format, whose first rule is "file".
extern const std::string_view unified_grammar_text;
const grammar& unified_grammar();

}  // namespace holdfast::spec::unified
