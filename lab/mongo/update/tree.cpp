#include "lab/mongo/update/tree.hpp"

#include <algorithm>

namespace holdfast::lab::updating {

std::optional<std::size_t> node::find(std::string_view key) const noexcept
{
    constexpr std::size_t few = 6;
    if (children.size() <= few) {
        for (std::size_t i = 0; i < children.size(); ++i) {
            if (children[i].first == key)
                return i;
        }
        return std::nullopt;
    }
    const auto at = std::ranges::lower_bound(children, key, field_order{}, &child::first);
    if (at == children.end() || at->first != key)
        return std::nullopt;
    return static_cast<std::size_t>(at - children.begin());
}

const operation& node::some_leaf() const noexcept
{
    const node* at = this;
    while (!at->leaf)
        at = at->children.front().second;
    return *at->leaf;
}

std::optional<conflict> tree::add(const operation& what, bool special)
{
    const std::string_view path = what.path;
    draft* at = &root_;
    for (std::size_t begin = 0;;) {
        const std::size_t end = std::min(path.find('.', begin), path.size());
        std::string_view part = path.substr(begin, end - begin);
        const bool last = end == path.size();
        const auto identifier = special ? identifier_of(part) : std::nullopt;
        // What is found decides what kind of node its parent is, so the first path to come by does.
        const node_kind kind = identifier ? node_kind::elements : node_kind::fields;
        if (at->inner.empty())
            at->made.kind = kind;
        else if (at->made.kind != kind)
            return conflict{path.substr(0, begin == 0 ? 0 : begin - 1)};
        part = identifier.value_or(part);
        at->made.positional = at->made.positional || (special && part == "$");
        auto& next = at->inner[part];
        if (next && (last || next->made.leaf))
            return conflict{path.substr(0, end)};
        if (!next)
            next = std::make_unique<draft>();
        at = next.get();
        if (last)
            break;
        begin = end + 1;
    }
    at->made.kind = node_kind::leaf;
    at->made.leaf = &what;
    return std::nullopt;
}

void tree::finish(draft& d)
{
    d.made.id = next_id_++;
    d.made.children.reserve(d.inner.size());
    for (auto& [key, inner] : d.inner) {
        finish(*inner);
        d.made.children.emplace_back(key, &inner->made);
    }
}

const node& tree::finish()
{
    finish(root_);
    return root_.made;
}

}  // namespace holdfast::lab::updating
