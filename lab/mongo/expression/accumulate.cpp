#include "lab/mongo/expression/accumulate.hpp"

#include "lab/mongo/document/compare.hpp"
#include "lab/mongo/expression/operators.hpp"

#include <cmath>

namespace holdfast::lab::computing {

result<void> running_sum::take(const bson::element& e)
{
    const auto n = read_number(e);
    if (!n)
        return {};
    if (n->is == number::kind::decimal)
        return no_decimal("a sum");
    sum_ = add(sum_, *n);
    ++count_;
    const double next = real_ + n->real;
    if (std::isfinite(next))
        lost_ += std::abs(real_) >= std::abs(n->real) ? (real_ - next) + n->real
                                                      : (n->real - next) + real_;
    real_ = next;
    if (sum_.is == number::kind::real)
        sum_.real = real_ + (std::isfinite(real_) ? lost_ : 0);
    return {};
}

value running_sum::mean() const
{
    if (count_ == 0)
        return null_value();
    return value::of((sum_.integral() ? static_cast<double>(sum_.whole) : sum_.real) /
                     static_cast<double>(count_));
}

void running_extreme::take(const bson::element& e)
{
    if (is_nullish(e))
        return;
    if (!found_.missing()) {
        const auto order = compare(e, found_.get(), by_);
        if (greatest_ ? order <= 0 : order >= 0)
            return;
    }
    found_ = value{e};
}

namespace {

/// A single operand that is an array stands for its elements.
template <class Take>
result<void> each_operand(const arguments& of, const Take& take)
{
    if (of.size() == 1 && of[0].type() == bson::type::array) {
        for (const bson::element& e : of[0].as_array()) {
            if (auto taken = take(e); !taken)
                return taken;
        }
        return {};
    }
    for (std::size_t i = 0; i < of.size(); ++i) {
        if (auto taken = take(of[i]); !taken)
            return taken;
    }
    return {};
}

result<value> sum_or_mean(const arguments& of, scope&)
{
    running_sum sum;
    auto done = each_operand(of, [&](const bson::element& e) { return sum.take(e); });
    if (!done)
        return std::move(done).error();
    return of.name == "$sum" ? sum.total() : sum.mean();
}

result<value> extreme(const arguments& of, scope& in)
{
    running_extreme found{of.name == "$max", in.by};
    auto done = each_operand(of, [&](const bson::element& e) -> result<void> {
        found.take(e);
        return {};
    });
    if (!done)
        return std::move(done).error();
    return found.found();
}

constexpr list_operator accumulate_table[] = {
    {"$sum", 0, list_operator::any, sum_or_mean},
    {"$avg", 0, list_operator::any, sum_or_mean},
    {"$min", 0, list_operator::any, extreme},
    {"$max", 0, list_operator::any, extreme},
};

}  // namespace

std::span<const list_operator> accumulating_operators()
{
    return accumulate_table;
}

}  // namespace holdfast::lab::computing
