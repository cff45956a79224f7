#pragma once
#include "lab/couchbase/n1ql/datastore.hpp"
#include "lab/couchbase/n1ql/run.hpp"

#include <memory>
#include <optional>
#include <string_view>

namespace holdfast::lab::couchbase::n1ql {

/// What one row begins with.
struct source_row {
    json::value content = {};
    std::optional<item_metadata> metadata = {};  // of a document
};

/// Gives what FROM names, one after the other.
class row_source {
public:
    virtual ~row_source() = default;
    /// progress::work: a document has gone meanwhile.
    virtual result<progress> next(source_row& into) = 0;
};

/// Documents of a collection: those of USE KEYS, or all.
result<std::unique_ptr<row_source>> documents_of(const keyspace& in, const expression_ptr& keys,
                                                 datastore& on, environment& with);

/// Of any source; one empty row if there is none.
result<std::unique_ptr<row_source>> open_source(const std::optional<source>& from, datastore& on,
                                                environment& with);

/// The number of LIMIT or OFFSET; none if there is none.
result<std::optional<std::uint64_t>> row_count(const expression_ptr& of, environment& in,
                                               std::string_view clause);

/// Whether something could not be computed.
result<void> check(const environment& in);

/// The row that a client gets for a row of the source.
json::value project(const std::vector<projection>& what, bool raw, const row_view& at,
                    environment& in);

}  // namespace holdfast::lab::couchbase::n1ql
