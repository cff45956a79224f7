#pragma once
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"
#include "lab/mongo/document/collation.hpp"
#include "lab/mongo/query/matcher.hpp"
#include "lab/mongo/query/node.hpp"

#include <optional>

namespace holdfast::lab::filter {

/// One question to a filter.
class evaluation {
public:
    explicit evaluation(const collation* by) noexcept : by_{by} {}

    /// False also after a fault().
    bool matches(const node& condition, bson::view document, match_details* found);

    const std::optional<error>& fault() const noexcept { return fault_; }

private:
    bool document_matches(const node& condition, bson::view document, match_details* found);
    bool path_matches(const node& condition, bson::view document, match_details* found);
    bool all_match(const node& condition, bson::view document, match_details* found);
    bool any_matches(const node& condition, bson::view document, match_details* found);
    bool whole_matches(const node& condition, bson::view document);

    bool value_matches(const node& condition, const bson::element& value);
    bool value_test(const node& condition, const bson::element& value, match_details* found);
    bool ordered(const node& condition, const bson::element& value) const;
    bool among(const node& condition, const bson::element& value);
    bool found_by(const regex& pattern, const bson::element& value);
    bool element_matches(const node& condition, const bson::element& array, match_details* found);
    bool fail(error why);

    const collation* by_;
    std::optional<error> fault_;
};

}  // namespace holdfast::lab::filter
