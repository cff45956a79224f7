#pragma once
#include "lab/couchbase/n1ql/expression.hpp"
#include "lab/couchbase/n1ql/functions.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab::couchbase::n1ql {

/// What META() shows of a document.
struct item_metadata {
    std::string id = {};
    std::uint64_t cas = 0;
    std::uint32_t expiration = 0;  // seconds since 1970
    std::uint32_t flags = 0;
    bool json = true;
};

/// What expressions see of a row.
struct row_view {
    bool has_source = false;  // whether there is something that names can mean
    std::string_view alias = {};
    const json::value* item = nullptr;  // null: there is no row, as in LIMIT
    const item_metadata* metadata = nullptr;
    const std::vector<value>* aggregates = nullptr;  // by their places
};

/// What cannot be computed at all is environment::failed.
value evaluate(const expression& what, const row_view& at, environment& in);

/// Whether a condition holds. A missing one does.
bool holds(const expression_ptr& condition, const row_view& at, environment& in);

}  // namespace holdfast::lab::couchbase::n1ql
