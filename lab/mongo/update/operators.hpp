#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/error.hpp"
#include "lab/mongo/update/operation.hpp"
#include "lab/mongo/update/tree.hpp"

#include <list>
#include <map>
#include <string_view>
#include <vector>

namespace holdfast::lab::updating {

/// One of arrayFilters: {"name.field": condition} speaks of {name: the element}.
struct array_filter {
    matcher filter;
    bool used = false;
};

/// A document of update operators, checked. It points into itself: not to be moved.
struct operators {
    bson::document source;
    std::list<operation> all = {};  // nodes point to them
    std::map<std::string_view, array_filter> filters = {};  // by name
    std::vector<const operation*> renames = {};
    tree paths = {};

    explicit operators(bson::view from) : source{from} {}
    operators(const operators&) = delete;
    operators& operator=(const operators&) = delete;

    /// `array_filters` is the caller's copy, and outlives this.
    result<void> parse(bson::array_view array_filters, const parse_context& with);

private:
    result<void> read_filters(bson::array_view from, const parse_context& with);
    result<void> read_operator(op what, bson::view fields, const parse_context& with);
    result<void> check_path(std::string_view path);
    result<void> add(operation&& made);
    result<void> add_rename(const bson::element& field, operation&& made);
};

}  // namespace holdfast::lab::updating
