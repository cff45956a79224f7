#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/update/rewriter.hpp"

#include <algorithm>
#include <climits>

namespace holdfast::lab::updating {

/// The same node with the number that the query found in the place of "$".
result<const node*> rewriter::resolve(const node& n)
{
    if (!n.positional)
        return &n;
    if (!around_.where || !around_.where->array_index)
        return refuse(server_code::bad_value,
                      "The positional operator did not find the match needed from the query.");
    constexpr int no_position = INT_MIN;
    if (const auto known = merged_.find({n.id, no_position}); known != merged_.end())
        return known->second;
    const std::string_view index = *around_.where->array_index;
    node& made = *made_.emplace_back(std::make_unique<node>(n.kind));
    made.id = next_id_--;
    const node* found = nullptr;
    for (const auto& child : n.children) {
        if (child.first == "$")
            found = child.second;
        else
            made.children.push_back(child);
    }
    merged_.emplace(std::pair{n.id, no_position}, &made);
    if (const auto also = made.find(index)) {
        const step here{path_, index};
        auto both = merge(*made.children[*also].second, *found);
        if (!both)
            return both;
        made.children[*also].second = *both;
        return &made;
    }
    const auto at = std::ranges::lower_bound(made.children, index, field_order{},
                                             &node::child::first);
    made.children.emplace(at, index, found);
    return &made;
}

result<const node*> rewriter::merge(const node& a, const node& b)
{
    if (const auto known = merged_.find({a.id, b.id}); known != merged_.end())
        return known->second;
    if (a.kind != b.kind || a.kind == node_kind::leaf)
        return refuse(server_code::conflicting_update_operators,
                      "Update created a conflict at '" + path_ + "'");
    node made{a.kind};
    made.positional = a.positional || b.positional;
    made.id = next_id_--;
    made.children = a.children;
    for (const auto& child : b.children) {
        const auto at = std::ranges::lower_bound(made.children, child.first, field_order{},
                                                 &node::child::first);
        if (at == made.children.end() || at->first != child.first) {
            made.children.insert(at, child);
            continue;
        }
        const step here{path_, child.first};
        auto both = merge(*at->second, *child.second);
        if (!both)
            return both;
        at->second = *both;
    }
    const node* const kept = made_.emplace_back(std::make_unique<node>(std::move(made))).get();
    merged_.emplace(std::pair{a.id, b.id}, kept);
    return kept;
}

/// What all $[...] together say about one element of an array; null if they say nothing.
result<const node*> rewriter::for_element(const node& n, const bson::element& e)
{
    const node* chosen = nullptr;
    for (const auto& [name, child] : n.children) {
        if (!name.empty()) {
            const auto filter = all_->filters.find(name);
            scratch_.clear();
            writer wrapped{scratch_};
            const std::size_t start = wrapped.open();
            wrapped.copy(name, e);
            wrapped.close(start);
            auto matches = filter->second.filter.matches(bson::view::trusted(scratch_.data()));
            if (!matches)
                return std::move(matches).error();
            if (!*matches)
                continue;
        }
        if (!chosen) {
            chosen = child;
            continue;
        }
        auto both = merge(*chosen, *child);
        if (!both)
            return both;
        chosen = *both;
    }
    return chosen;
}

}  // namespace holdfast::lab::updating
