#include "lab/couchbase/n1ql/accumulator.hpp"

namespace holdfast::lab::couchbase::n1ql {

void accumulator::add(const value& of)
{
    if (counts_rows_) {
        ++count_;
        return;
    }
    if (!of || (of->is_null() && what_ != aggregate_kind::array_agg))
        return;
    const bool sums = what_ == aggregate_kind::sum || what_ == aggregate_kind::avg;
    if (sums && kind_of(of) != kind::number)
        return;
    if (distinct_ && !met_.insert(json_text(*of)).second)
        return;
    ++count_;
    if (sums)
        add_number(of);
    else if (what_ == aggregate_kind::array_agg)
        list_.push_back(*of);
    else if (what_ != aggregate_kind::count &&
             (!best_ ||
              (what_ == aggregate_kind::min ? compare(of, best_) < 0 : compare(of, best_) > 0)))
        best_ = of;
}

/// Whole as long as all of them are and their sum fits.
void accumulator::add_number(const value& of)
{
    const auto whole = integer_in(of);
    if (!is_broken_ && whole && !__builtin_add_overflow(whole_, *whole, &whole_)) {
        broken_ = static_cast<double>(whole_);
        return;
    }
    is_broken_ = true;
    broken_ += number_in(of).value_or(0);
}

value accumulator::outcome() const
{
    switch (what_) {
    case aggregate_kind::count: return count_;
    case aggregate_kind::sum:
        if (count_ == 0)
            break;
        return is_broken_ ? number(broken_) : json::value(whole_);
    case aggregate_kind::avg:
        if (count_ == 0)
            break;
        return number(broken_ / static_cast<double>(count_));
    case aggregate_kind::min:
    case aggregate_kind::max:
        if (!best_)
            break;
        return best_;
    case aggregate_kind::array_agg:
        if (list_.empty())
            break;
        return list_;
    }
    return json::value(nullptr);
}

}  // namespace holdfast::lab::couchbase::n1ql
