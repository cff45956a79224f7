#pragma once
#include "core/mongo/handshake/connection_description.hpp"
#include "core/mongo/operation/bulk_statements.hpp"

#include <cstddef>

namespace holdfast::core::mongo {

/// Decides whether a batch of a bulk write may carry a transaction number, so that it can be
/// retried: not with a write to many documents in it. Which writes a batch has is known when it is
/// written to a connection; until then the limits of the last connection are assumed. `Plan` has
/// fits() and first_multi().
template <class Plan>
class batch_eligibility {
public:
    explicit batch_eligibility(Plan& plan) noexcept : plan_{plan} {}

    /// For a batch that begins at `begin` and may have the writes up to `end`. Unacknowledged
    /// writes carry no transaction number; `may_have_multi` is false for inserts.
    bool start(std::size_t begin, std::size_t end, bool acknowledged, bool may_have_multi)
    {
        begin_ = begin;
        group_end_ = end;
        acknowledged_ = acknowledged;
        may_have_multi_ = may_have_multi;
        written_ = false;
        return decide();
    }

    /// The same before an attempt on a connection. A batch that was written is not decided again: a
    /// retry sends the same writes.
    bool on(const connection_description& limits)
    {
        const batch_limits now{limits};
        if (written_ || now == expected_)
            return eligible_;
        expected_ = now;
        return decide();
    }

    /// The batch has been written to such a connection.
    void written(const connection_description& limits) noexcept
    {
        expected_ = batch_limits{limits};
        written_ = true;
    }

    /// Where the batch must end, if it is eligible before a write to many documents.
    std::size_t end() const noexcept { return end_; }

private:
    bool decide()
    {
        end_ = group_end_;
        eligible_ = acknowledged_;
        if (!acknowledged_ || !may_have_multi_)
            return eligible_;
        const std::size_t all = plan_.fits(begin_, end_, expected_.bytes, expected_.writes);
        const std::size_t multi = plan_.first_multi(begin_, end_);
        eligible_ = multi >= all && multi != begin_;
        if (eligible_)
            end_ = multi;
        return eligible_;
    }

    Plan& plan_;
    batch_limits expected_;  // of the last connection
    std::size_t begin_ = 0;
    std::size_t group_end_ = 0;
    std::size_t end_ = 0;
    bool acknowledged_ = true;
    bool may_have_multi_ = false;
    bool written_ = false;
    bool eligible_ = false;
};

}  // namespace holdfast::core::mongo
