#include "lab/mongo/storage/index.hpp"

#include "lab/mongo/document/compare.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/storage/index_keys.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::lab {
namespace {

constexpr int no_arrays_in_hashed = 16766;

const expression_context& no_context()
{
    static const expression_context none;
    return none;
}

bool has_position(std::string_view path)
{
    while (!path.empty()) {
        const std::size_t dot = path.find('.');
        const std::string_view name = path.substr(0, dot);
        if (!name.empty() && std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; }))
            return true;
        path = dot == path.npos ? std::string_view{} : path.substr(dot + 1);
    }
    return false;
}

}  // namespace

index::index(index_spec from) : spec{std::move(from)}, entries_{less{this}}
{
    for (const bson::element& e : spec.key) {
        paths_.emplace_back(e.key());
        if (e.key() == "$**" || e.key().ends_with(".$**"))
            keyed_ = false;
        if (e.type() != bson::type::string)
            continue;
        if (e.as_string() == "hashed")
            hashed_ = true;
        else
            keyed_ = false;
    }
}

result<std::unique_ptr<index>> index::make(index_spec from)
{
    std::unique_ptr<index> made{new index{std::move(from)}};
    if (!made->spec.partial_filter.empty()) {
        auto filter = matcher::compile(made->spec.partial_filter, made->spec.order, no_context());
        if (!filter)
            return std::move(filter).error();
        made->filter_.emplace(*std::move(filter));
    }
    return made;
}

result<std::vector<bson::document>> index::keys_of(bson::view document) const
{
    if (!keyed_)
        return std::vector<bson::document>{};
    if (filter_) {
        const auto in = filter_->matches(document);
        if (!in || !*in)
            return std::vector<bson::document>{};
    }
    auto found = extract_keys(document, paths_);
    if (!found)
        return std::move(found).error();
    if (hashed_ && found->keys.size() > 1)
        return refuse(no_arrays_in_hashed, "hashed indexes do not currently support array values");
    if (spec.sparse && found->all_missing)
        return std::vector<bson::document>{};
    return std::move(found->keys);
}

const bson::document* index::taken(const std::vector<bson::document>& keys) const
{
    for (const bson::document& key : keys) {
        const auto at = entries_.lower_bound(probe{key});
        if (at != entries_.end() && compare_keys(at->key, key) == 0)
            return &key;
    }
    return nullptr;
}

void index::add(std::vector<bson::document> keys, record_id which)
{
    for (bson::document& key : keys)
        entries_.insert({std::move(key), which});
}

void index::remove(const std::vector<bson::document>& keys, record_id which)
{
    for (const bson::document& key : keys) {
        if (const auto at = entries_.find(entry{key, which}); at != entries_.end())
            entries_.erase(at);
    }
}

bool index::has(const bson::document& key, record_id which) const
{
    return entries_.contains(entry{key, which});
}

bool index::answers(std::string_view path) const
{
    return keyed_ && !spec.sparse && !filter_ && !spec.order && !spec.hidden && !is_id &&
           paths_.front() == path && !has_position(path);
}

std::vector<record_id> index::equal_first(const bson::element& value) const
{
    std::vector<record_id> found;
    auto [at, end] = entries_.equal_range(first_value{value});
    for (; at != end; ++at)
        found.push_back(at->which);
    std::ranges::sort(found);
    const auto twice = std::ranges::unique(found);
    found.erase(twice.begin(), twice.end());
    return found;
}

std::vector<std::vector<record_id>> index::duplicates() const
{
    std::vector<std::vector<record_id>> groups;
    for (auto at = entries_.begin(); at != entries_.end();) {
        auto end = at;
        std::vector<record_id> group;
        for (; end != entries_.end() && compare_keys(end->key, at->key) == 0; ++end)
            group.push_back(end->which);
        if (group.size() > 1)
            groups.push_back(std::move(group));
        at = end;
    }
    return groups;
}

std::weak_ordering index::compare_keys(const bson::document& a, const bson::document& b) const
{
    return compare(a.view(), b.view(), order());
}

bool index::less::operator()(const entry& a, const entry& b) const
{
    const auto keys = of->compare_keys(a.key, b.key);
    return keys != 0 ? keys < 0 : a.which < b.which;
}

bool index::less::operator()(const entry& a, const probe& b) const
{
    return of->compare_keys(a.key, b.key) < 0;
}

bool index::less::operator()(const first_value& a, const entry& b) const
{
    return compare(a.value, *b.key.begin(), of->order()) < 0;
}

bool index::less::operator()(const entry& a, const first_value& b) const
{
    return compare(*a.key.begin(), b.value, of->order()) < 0;
}

}  // namespace holdfast::lab
