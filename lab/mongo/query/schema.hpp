#pragma once
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"
#include "lab/mongo/query/regex.hpp"
#include "lab/mongo/query/type_set.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace holdfast::lab::filter {

/// What $jsonSchema asks of a document or of one of its values. Lies in the filter's bytes.
struct schema {
    struct property {
        std::string_view name;
        std::unique_ptr<schema> form;
    };
    using list = std::vector<std::unique_ptr<schema>>;

    std::optional<type_set> types = {};
    std::vector<std::string_view> required = {};
    std::vector<property> properties = {};
    bool additional_properties = true;
    std::unique_ptr<schema> additional_property = {};
    bson::element minimum = {};
    bson::element maximum = {};
    bool exclusive_minimum = false;
    bool exclusive_maximum = false;
    bson::element allowed = {};  // enum
    std::optional<regex> pattern = {};
    std::optional<std::int64_t> least_length = {};
    std::optional<std::int64_t> greatest_length = {};
    std::unique_ptr<schema> items = {};
    list first_items = {};
    bool additional_items = true;
    std::optional<std::int64_t> least_items = {};
    std::optional<std::int64_t> most_items = {};
    std::optional<std::int64_t> least_properties = {};
    std::optional<std::int64_t> most_properties = {};
    bool unique_items = false;
    list all_of = {};
    list any_of = {};
    list one_of = {};
    std::unique_ptr<schema> none_of = {};
};

/// `depth` is where it stands in its filter. What the lab does not know is refused (9).
result<std::unique_ptr<schema>> compile_schema(const bson::element& from, int depth);

result<bool> is_valid(const schema& form, bson::view document);

}  // namespace holdfast::lab::filter
