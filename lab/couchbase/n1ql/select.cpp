#include "lab/couchbase/n1ql/select.hpp"

#include "lab/couchbase/n1ql/accumulator.hpp"
#include "lab/couchbase/n1ql/query_error.hpp"
#include "lab/couchbase/n1ql/row_source.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace holdfast::lab::couchbase::n1ql {

namespace {

/// So many rows of a source are looked at in one go.
constexpr std::size_t rows_at_once = 200;

struct sorted_row {
    std::vector<value> by;
    std::string text;
};

class select_run final : public running {
public:
    select_run(const select_statement& what, environment& in, std::unique_ptr<row_source> from)
        : what_{what}, in_{in}, from_{std::move(from)}
    {
        for (const aggregate* const one : what_.aggregates)
            sums_.emplace_back(*one);
        for (const sort_term& one : what_.order)
            order_.push_back(meant_by(*one.of));
    }

    result<void> limit();
    result<progress> next(std::string& to) override;
    run_counts counts() const override { return {0, sorted_}; }

private:
    const expression* meant_by(const expression& of) const;
    row_view view_of(const source_row& row) const;
    result<progress> step(std::string& to);
    result<progress> source_ended(std::string& to);
    void sort();
    void keep(const row_view& at, std::string text);
    /// Whether the row is one that the client gets.
    bool admits(const std::string& text);

    const select_statement& what_;
    environment& in_;
    std::unique_ptr<row_source> from_;  // null: it has ended
    std::vector<accumulator> sums_;
    std::vector<const expression*> order_;
    std::uint64_t to_skip_ = 0;
    std::uint64_t left_ = ~std::uint64_t{0};
    std::set<std::string> met_;
    std::vector<sorted_row> rows_;  // that wait to be sorted, or have been
    std::size_t given_ = 0;         // of them
    std::uint64_t sorted_ = 0;
};

result<void> select_run::limit()
{
    const auto offset = row_count(what_.offset, in_, "OFFSET");
    if (!offset)
        return error{offset.error()};
    const auto most = row_count(what_.limit, in_, "LIMIT");
    if (!most)
        return error{most.error()};
    to_skip_ = offset->value_or(0);
    left_ = most->value_or(left_);
    return {};
}

/// In ORDER BY a name can be the alias of what is selected.
const expression* select_run::meant_by(const expression& of) const
{
    const path* const name = std::get_if<path>(&of.is);
    if (!name || name->from || !name->steps.empty())
        return &of;
    for (const projection& one : what_.projections) {
        if (one.of && !one.all_fields && one.alias == name->root)
            return one.of.get();
    }
    return &of;
}

row_view select_run::view_of(const source_row& row) const
{
    row_view at;
    at.has_source = what_.from.has_value();
    if (!at.has_source)
        return at;
    at.alias = what_.from->alias;
    at.item = &row.content;
    at.metadata = row.metadata ? &*row.metadata : nullptr;
    return at;
}

bool select_run::admits(const std::string& text)
{
    if (what_.distinct && !met_.insert(text).second)
        return false;
    if (to_skip_ != 0) {
        --to_skip_;
        return false;
    }
    --left_;
    return true;
}

void select_run::keep(const row_view& at, std::string text)
{
    if (rows_.size() == most_sorted_rows) {
        in_.failed = refuse(query_code::memory_quota,
                            "Request has exceeded memory quota: too many rows to sort");
        return;
    }
    sorted_row made{{}, std::move(text)};
    for (const expression* const one : order_)
        made.by.push_back(evaluate(*one, at, in_));
    rows_.push_back(std::move(made));
}

/// One row of the source.
result<progress> select_run::step(std::string& to)
{
    in_.made_bytes = 0;
    source_row row;
    const auto found = from_->next(row);
    if (!found)
        return error{found.error()};
    if (*found == progress::end)
        return source_ended(to);
    const row_view at = view_of(row);
    if (*found == progress::work || !holds(what_.where, at, in_))
        return progress::work;
    if (!sums_.empty()) {
        for (std::size_t n = 0; n != sums_.size(); ++n) {
            const expression_ptr& of = what_.aggregates[n]->of;
            sums_[n].add(of ? evaluate(*of, at, in_) : value{});
        }
        return progress::work;
    }
    std::string text = json_text(project(what_.projections, what_.raw, at, in_));
    if (!order_.empty()) {
        keep(at, std::move(text));
        return progress::work;
    }
    if (!admits(text))
        return progress::work;
    to += text;
    return progress::row;
}

result<progress> select_run::source_ended(std::string& to)
{
    from_.reset();
    if (sums_.empty()) {
        sort();
        return progress::work;
    }
    std::vector<value> outcomes;
    for (const accumulator& one : sums_)
        outcomes.push_back(one.outcome());
    row_view at;
    at.has_source = true;
    at.aggregates = &outcomes;
    const std::string text = json_text(project(what_.projections, what_.raw, at, in_));
    if (!admits(text))
        return progress::end;
    to += text;
    return progress::row;
}

void select_run::sort()
{
    sorted_ = order_.empty() ? 0 : rows_.size();
    std::ranges::stable_sort(rows_, [&](const sorted_row& a, const sorted_row& b) {
        for (std::size_t n = 0; n != order_.size(); ++n) {
            const int found = compare(a.by[n], b.by[n]);
            if (found != 0)
                return what_.order[n].descending ? found > 0 : found < 0;
        }
        return false;
    });
}

result<progress> select_run::next(std::string& to)
{
    if (left_ == 0)
        return progress::end;
    if (!from_) {
        while (given_ != rows_.size()) {
            const std::string text = std::move(rows_[given_++].text);
            if (!admits(text))
                continue;
            to += text;
            return progress::row;
        }
        return progress::end;
    }
    for (std::size_t n = 0; n != rows_at_once && from_; ++n) {
        auto done = step(to);
        if (auto fine = check(in_); !fine)
            return std::move(fine).error();
        if (!done || *done != progress::work)
            return done;
    }
    return progress::work;
}

}  // namespace

result<std::unique_ptr<running>> start_select(const select_statement& what, datastore& on,
                                              environment& in)
{
    auto from = open_source(what.from, on, in);
    if (!from)
        return std::move(from).error();
    auto made = std::make_unique<select_run>(what, in, *std::move(from));
    if (auto limited = made->limit(); !limited)
        return std::move(limited).error();
    return std::unique_ptr<running>{std::move(made)};
}

}  // namespace holdfast::lab::couchbase::n1ql
