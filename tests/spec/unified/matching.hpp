#pragma once
#include "entities.hpp"
#include "holdfast/bson/view.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace holdfast::spec::unified {

/// Where two values differ, and how: "insertedIds.0: expected 1, found 2". Nothing if they do not.
using difference = std::optional<std::string>;

/// The format's rules for comparing what was expected with what was found: numbers by value,
/// documents without regard to the order of keys, and all "$$" operators. A document at the root
/// may have more keys than expected, one further inside may not.
class matcher {
public:
    explicit matcher(const entities& named) : named_{&named} {}

    /// `found` is a missing element if there is no value at all. A document is a root one.
    difference compare(const bson::element& expected, const bson::element& found) const;
    difference compare_root(bson::view expected, bson::view found) const;

    /// A result of an operation: as above, but each document of an array is a root one too.
    difference compare_result(const bson::element& expected, const bson::element& found) const;

private:
    struct place;  // where in the document, and by which rules

    difference value(const bson::element& expected, const bson::element& found,
                     const place& at) const;
    difference document(bson::view expected, bson::view found, const place& at) const;
    difference array(bson::array_view expected, bson::array_view found, const place& at) const;
    difference special(const bson::element& op, const bson::element& found, const place& at) const;
    difference entity_value(const bson::element& id, const bson::element& found,
                            const place& at) const;
    difference text_as_document(const bson::element& inner, const bson::element& found,
                                const place& at) const;
    difference session_id(const bson::element& id, const bson::element& found,
                          const place& at) const;

    const entities* named_;
};

/// A value for people, in relaxed Extended JSON; cut if it is very long. "nothing" if missing.
std::string shown(const bson::element& value);
std::string shown(bson::view value);

}  // namespace holdfast::spec::unified
