#pragma once
#include "lab/mongo/expression/node.hpp"
#include "lab/mongo/expression/number.hpp"

#include <cstddef>
#include <optional>

namespace holdfast::lab::computing {

/// $sum: what is no number does not count.
class running_sum {
public:
    result<void> take(const bson::element& e);
    value total() const { return sum_.to_value(); }
    /// The mean, or null if no number came.
    value mean() const;

private:
    number sum_;
    double real_ = 0;  // with what rounding lost, so that ten times 0.1 is 1
    double lost_ = 0;
    std::size_t count_ = 0;
};

/// $min and $max by BSON order; null and missing do not count.
class running_extreme {
public:
    explicit running_extreme(bool greatest, const collation* by = nullptr)
        : by_{by}, greatest_{greatest}
    {
    }
    void take(const bson::element& e);
    value found() const { return found_.missing() ? null_value() : found_; }

private:
    value found_;
    const collation* by_;
    bool greatest_;
};

}  // namespace holdfast::lab::computing
