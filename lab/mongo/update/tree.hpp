#pragma once
#include "holdfast/error.hpp"
#include "lab/mongo/update/operation.hpp"
#include "lab/mongo/update/path.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::lab::updating {

enum class node_kind : std::uint8_t {
    fields,    // names, or numbers that pick from an array; "$" is the one that the query found
    elements,  // $[name] of an array; "" is $[], all of them
    leaf,
};

/// All paths of an update as one tree, in which no path leads through the end of another.
struct node {
    using child = std::pair<std::string_view, const node*>;

    explicit node(node_kind k = node_kind::fields) : kind{k} {}

    node_kind kind;
    bool positional = false;  // one of the children is "$"
    int id = 0;
    const operation* leaf = nullptr;
    std::vector<child> children;  // in field_order

    /// The place of a child among the children, or nothing.
    std::optional<std::size_t> find(std::string_view key) const noexcept;
    /// Some operation below, for messages.
    const operation& some_leaf() const noexcept;
};

/// Two paths, of which one lies on the other.
struct conflict {
    std::string_view at;  // the shorter one
};

/// Takes paths one by one, and then gives the tree.
class tree {
public:
    tree() = default;
    tree(const tree&) = delete;
    tree& operator=(const tree&) = delete;

    /// `special` says whether $, $[] and $[name] mean anything.
    std::optional<conflict> add(const operation& what, bool special = true);
    /// Nothing can be added afterwards.
    const node& finish();
    const node& root() const noexcept { return root_.made; }

private:
    struct draft {
        node made;
        std::map<std::string_view, std::unique_ptr<draft>, field_order> inner = {};
    };

    void finish(draft& d);

    draft root_;
    int next_id_ = 0;
};

}  // namespace holdfast::lab::updating
