#pragma once
#include "lab/couchbase/n1ql/expression.hpp"
#include "lab/couchbase/n1ql/value.hpp"

#include <boost/json/array.hpp>

#include <cstdint>
#include <set>
#include <string>

namespace holdfast::lab::couchbase::n1ql {

/// One aggregate over all rows.
class accumulator {
public:
    explicit accumulator(const aggregate& what) noexcept
        : what_{what.what}, distinct_{what.distinct}, counts_rows_{!what.of}
    {
    }

    void add(const value& of);
    value outcome() const;

private:
    void add_number(const value& of);

    aggregate_kind what_;
    bool distinct_;
    bool counts_rows_;
    std::int64_t count_ = 0;
    std::int64_t whole_ = 0;
    double broken_ = 0;
    bool is_broken_ = false;
    value best_ = {};
    json::array list_ = {};
    std::set<std::string> met_ = {};
};

}  // namespace holdfast::lab::couchbase::n1ql
