#pragma once
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::lab {

/// How text is compared when a command asks for a language's order. The lab knows what a test or a
/// drill needs: strengths 1 to 3 for languages written in Latin letters, by folding case and
/// accents, and numericOrdering. "simple" is the absence of a collation.
struct collation {
    int strength = 3;
    bool case_level = false;
    bool numeric_ordering = false;

    std::weak_ordering compare(std::string_view a, std::string_view b) const;
    /// The same bytes for texts that compare as equal. Those of ASCII letters and digits are what
    /// the library of the servers makes of them; for all others it has tables that the lab lacks.
    std::string sort_key(std::string_view text) const;

    friend bool operator==(const collation&, const collation&) = default;
};

/// From the field of a command, {locale: "en_US", strength: 2}. Nothing for {locale: "simple"} and
/// for an element that is missing.
result<std::optional<collation>> read_collation(const bson::element& from);

}  // namespace holdfast::lab
