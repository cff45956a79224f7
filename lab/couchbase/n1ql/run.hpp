#pragma once
#include "holdfast/error.hpp"
#include "lab/couchbase/n1ql/datastore.hpp"
#include "lab/couchbase/n1ql/functions.hpp"
#include "lab/couchbase/n1ql/statement.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::lab::couchbase::n1ql {

struct run_counts {
    std::uint64_t mutations = 0;
    std::uint64_t sorted = 0;
};

enum class progress : std::uint8_t {
    row,   // there is one
    work,  // some was done; call again
    end,
};

/// A statement under way. It goes on as far as it is asked to.
class running {
public:
    virtual ~running() = default;

    /// Appends the next row to `to`, as JSON.
    virtual result<progress> next(std::string& to) = 0;
    virtual run_counts counts() const { return {}; }
};

struct run_options {
    bool preserve_expiry = false;
};

/// Begins a statement: what is wrong with its names and parameters is an error already here. All
/// three outlive it.
result<std::unique_ptr<running>> start(const statement& what, datastore& on, environment& in,
                                       run_options options = {});

/// Gives one row.
std::unique_ptr<running> give_row(const json::value& row);

/// The member "signature" of a reply.
json::value signature_of(const statement& of);

/// The plan of EXPLAIN and PREPARE, as far as the lab has one.
json::value plan_of(const statement& of);

/// The keyspace that a statement scans, so that its index matters; null if it needs none.
const keyspace_name* scanned_keyspace(const statement& of);

inline constexpr std::size_t most_sorted_rows = 1'000'000;

}  // namespace holdfast::lab::couchbase::n1ql
