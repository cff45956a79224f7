#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/error.hpp"
#include "lab/mongo/document/collation.hpp"
#include "lab/mongo/document/value.hpp"

#include <compare>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::lab {

/// {a: 1, "b.c": -1}. For an array the smallest (ascending) or greatest element counts, as in
/// MongoDB. $natural is handled by the scan, which knows the natural order.
class sort_pattern {
public:
    static result<sort_pattern> compile(bson::view spec, const std::optional<collation>& by = {});

    /// What a document is sorted by: one value a field; missing ones are null.
    std::vector<value> key_of(bson::view document) const;
    std::weak_ordering compare(const std::vector<value>& a, const std::vector<value>& b) const;

    std::size_t size() const noexcept { return parts_.size(); }
    bool empty() const noexcept { return parts_.empty(); }

private:
    struct part {
        std::string path;
        bool descending = false;
    };
    std::vector<part> parts_;
    std::optional<collation> collation_;
};

}  // namespace holdfast::lab
