#pragma once
#include "holdfast/error.hpp"
#include "lab/mongo/node/node.hpp"
#include "lab/mongo/query/matcher.hpp"
#include "lab/mongo/query/sort_pattern.hpp"
#include "lab/mongo/storage/collection.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

namespace holdfast::lab::mongo {

/// The documents of a collection that match a filter, one after the other. Writes may come between
/// two steps. Uses an index where the filter demands that a field has one value.
class scan {
public:
    /// `filter` null: all documents. `natural`: no index, and -1 is against the order of insertion.
    scan(const collection& in, const matcher* filter, read_time at, int natural = 0);

    result<std::optional<record>> next(match_details* details = nullptr);

    /// The collection may be another object by now.
    void rebind(const collection& in) noexcept { in_ = &in; }
    record_id position() const noexcept { return last_; }
    /// The field whose index is used; empty for a walk over all.
    const std::string& index_path() const noexcept { return index_path_; }

private:
    void choose_index();
    std::optional<record> step();

    const collection* in_;
    const matcher* filter_;
    read_time at_;
    bool backwards_;
    std::string index_path_;
    std::vector<record_id> candidates_;
    std::size_t next_candidate_ = 0;
    record_id last_ = 0;
};

/// {_id: value} and nothing else, where value is compared as it is: the value, or a missing
/// element.
bson::element sole_id(bson::view filter) noexcept;

/// The time that a command's read concern asks for.
read_time read_time_of(const node& on, const request& what);

/// What a hint means for a collection: the index's key pattern, or natural order.
struct hinted {
    const index_spec* index = nullptr;
    int natural = 0;
};
/// 2 if there is no such index.
result<hinted> read_hint(const collection* in, const bson::element& hint);

/// {$natural: 1} or -1, else 0.
int natural_of(bson::view sort) noexcept;

/// The command's collation, or else the collection's.
result<std::optional<collation>> collation_for(const collection* in, const bson::element& given);

/// The first match in the order of `sort` (empty: as found), a copy of nothing: valid until a
/// write.
struct found_record {
    record which;
    match_details details;
};
result<std::optional<found_record>> first_match(const collection& in, const matcher& filter,
                                                bson::view sort, const std::optional<collation>& by,
                                                int natural);

/// {$where: "sleep(n)"}: what a filter costs, added up. The filters of a write are looked at before
/// any of them is carried out.
class sleeps {
public:
    void add(const matcher& filter, const collection* in, bool all_of_them = true);
    /// Costs next to nothing where there is no $where. A filter that is none adds nothing: it is
    /// refused by its user.
    void add(bson::view filter, const collection* in, bool all_of_them = true);

    /// Whether the time is over; if not, the request waits. 50 if its own time limit comes first.
    result<bool> over(const node& on, request& what) const;

private:
    std::chrono::milliseconds total_{0};
};

/// The same for one filter.
result<bool> has_slept(const node& on, request& what, const matcher& filter, const collection* in);

/// Whether a filter has a $where at its top, or under $and, $or or $nor.
bool asks_where(bson::view filter, int depth = 0);

}  // namespace holdfast::lab::mongo
