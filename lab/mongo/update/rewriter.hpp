#pragma once
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"
#include "lab/mongo/document/collation.hpp"
#include "lab/mongo/query/matcher.hpp"
#include "lab/mongo/update/operators.hpp"
#include "lab/mongo/update/tree.hpp"
#include "lab/mongo/update/writer.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::lab::updating {

inline constexpr std::size_t max_stored_size = 16 * 1024 * 1024;

/// What operations need to know beyond the document.
struct surroundings {
    const match_details* where = nullptr;
    const collation* by = nullptr;
    bson::datetime now = {};
    bson::timestamp cluster_time = {};
    bool inserting = false;
};

/// Applies a tree of operations to one document by writing it anew in one pass: what no path
/// touches is copied in long runs. Because paths never conflict, an operation never sees what
/// another one did, and the order of fields is the only thing that order decides.
class rewriter {
public:
    rewriter(bson::byte_buffer& out, bson::view document, const surroundings& around)
        : out_{out}, document_{document}, around_{around}
    {
    }

    /// The document after all of it.
    result<void> apply(const operators& all);
    /// A document made of nothing but what the tree sets.
    result<void> create(const node& root);

private:
    // The walk. Each writes the element it is given, changed, or not at all.
    result<void> fields(const node& n, bson::view old, bool at_root);
    result<void> field(const node& n, const bson::element& old, bool at_root);
    result<void> indexes(const node& n, const bson::element& old);
    result<void> beyond_end(const node::child& child, std::size_t count,
                            const bson::element& array);
    result<void> elements(const node& n, bson::array_view old);
    result<void> existing(const node& n, const bson::element& old, bool in_array);
    result<bool> missing(const node& n, std::string_view key);
    result<bool> missing_at_root(const node& n, std::string_view key);
    /// What operations say whose path would lead through a scalar, or by a name into an array: at
    /// `part`, inside `by`.
    result<void> blocked(const node& n, std::string_view part, const bson::element& by);

    // Trees that are known only now: where $ leads, and what several $[name] have in common.
    result<const node*> resolve(const node& n);
    result<const node*> merge(const node& a, const node& b);
    result<const node*> for_element(const node& n, const bson::element& e);

    // Operations (leaf.cpp, leaf_array.cpp).
    result<void> change(const operation& what, const bson::element& old, bool in_array);
    result<bool> make(const operation& what, std::string_view key);
    result<void> calculate(const operation& what, const bson::element& old);
    result<void> bits(const operation& what, const bson::element& old, std::string_view key);
    void write_date(const operation& what, std::string_view key);
    result<void> find_renamed(const operation& rename);
    result<void> append(const bson::element& old, std::string_view key,
                        const std::vector<bson::element>& values);
    result<void> push(const operation& what, const bson::element& old, std::string_view key);
    result<void> add_to_set(const operation& what, const bson::element& old, std::string_view key);
    result<void> pull(const operation& what, const bson::element& old);
    result<bool> is_pulled(const operation& what, const bson::element& e);
    result<void> pop(const operation& what, const bson::element& old);

    result<void> check_size() const;

    /// Keeps path_ right while something inside is looked at.
    class step {
    public:
        step(std::string& path, std::string_view part) : path_{path}, before_{path.size()}
        {
            if (!path.empty())
                path += '.';
            path += part;
        }
        ~step() { path_.resize(before_); }
        step(const step&) = delete;
        step& operator=(const step&) = delete;

    private:
        std::string& path_;
        std::size_t before_;
    };

    writer out_;
    bson::view document_;
    const surroundings& around_;
    const operators* all_ = nullptr;
    std::string path_;
    std::vector<bson::element> renamed_;  // what each rename found, missing if nothing
    std::vector<std::unique_ptr<node>> made_;
    std::map<std::pair<int, int>, const node*> merged_;  // by id; also what resolve() made
    int next_id_ = -1;  // of nodes made here; those of the update count upwards
    bson::byte_buffer scratch_;
};

/// The answer to bytes that are no BSON.
error malformed_document();

}  // namespace holdfast::lab::updating
