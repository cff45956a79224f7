#include "lab/mongo/document/compare.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/document/stable_sort.hpp"
#include "lab/mongo/expression/compiler.hpp"
#include "lab/mongo/expression/expression.hpp"
#include "lab/mongo/expression/list.hpp"
#include "lab/mongo/expression/number.hpp"
#include "lab/mongo/expression/operators.hpp"
#include "lab/mongo/expression/path.hpp"
#include "lab/mongo/expression/sort_array.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace holdfast::lab::computing {

namespace {

// ---- $zip ----

struct zip_inputs {
    std::vector<list> lists;
    std::size_t shortest = SIZE_MAX;
    std::size_t longest = 0;
};

result<std::optional<zip_inputs>> read_inputs(const bson::element& inputs)
{
    if (inputs.type() != bson::type::array)
        return refuse(34461, "inputs must be an array of expressions, found " +
                                 std::string{type_name(inputs)});
    zip_inputs made;
    for (const bson::element& e : inputs.as_array()) {
        if (is_nullish(e))
            return std::optional<zip_inputs>{};
        if (e.type() != bson::type::array)
            return refuse(34468, "$zip found a non-array expression in input: " + to_text(e));
        made.lists.push_back(elements_of(e));
        made.shortest = std::min(made.shortest, made.lists.back().size());
        made.longest = std::max(made.longest, made.lists.back().size());
    }
    if (made.lists.empty())
        return refuse(34465, "$zip requires at least one input array");
    return std::optional{std::move(made)};
}

result<value> zipped(const arguments& of, scope& in)
{
    const auto inputs = read_inputs(of[0]);
    if (!inputs)
        return inputs.error();
    if (of.given(2) && of[2].type() != bson::type::boolean)
        return refuse(34463,
                      "useLongestLength must be a bool, found " + std::string{type_name(of[2])});
    const bool longest = of.given(2) && of[2].as_bool();
    if (of.given(1) && of[1].type() != bson::type::array)
        return refuse(34462, "defaults must be an array of expressions, found " +
                                 std::string{type_name(of[1])});
    if (of.given(1) && !longest)
        return refuse(34466, "cannot specify defaults unless useLongestLength is true");
    if (!*inputs)
        return null_value();
    const std::vector<list>& lists = (*inputs)->lists;
    const list defaults = of.given(1) ? elements_of(of[1]) : list(lists.size());
    if (defaults.size() != lists.size())
        return refuse(34467, "defaults and inputs must have the same length");
    bson::byte_buffer bytes;
    bson::array_builder out{bytes};
    const std::size_t count = longest ? (*inputs)->longest : (*inputs)->shortest;
    for (std::size_t i = 0; i < count; ++i) {
        list row;
        for (std::size_t k = 0; k < lists.size(); ++k)
            row.push_back(i < lists[k].size() ? lists[k][i] : defaults[k]);
        out.copy(make_array(row).get());
        if (auto paid = in.spend(bytes.size() > max_value_size ? bytes.size() : 0); !paid)
            return std::move(paid).error();
    }
    auto done = out.finish();
    if (!done)
        return std::move(done).error();
    return value{*done};
}

constexpr named_operator array_forms_table[] = {
    {"$zip", 34460, 34464, zipped, {{{"inputs", 34465}, {"defaults", 0}, {"useLongestLength", 0}}}},
};

// ---- $sortArray ----

struct sort_part {
    std::vector<std::string> path;  // empty: the element itself
    bool descending = false;
};

/// Sorts elements, which may be of any type; those without the field come as null.
class sorted_array final : public node {
public:
    sorted_array(node_ptr input, std::vector<sort_part> parts)
        : input_{std::move(input)}, parts_{std::move(parts)}
    {
    }
    result<value> evaluate(scope& in) const override
    {
        const auto input = input_->evaluate(in);
        if (!input)
            return input;
        const bson::element array = input->get();
        if (is_nullish(array))
            return null_value();
        if (array.type() != bson::type::array)
            return refuse(2942504,
                          "The input argument to $sortArray must be an array, but was of "
                          "type: " +
                              std::string{type_name(array)});
        struct row {
            std::vector<value> key;
            bson::element whole;
        };
        std::vector<row> rows;
        for (const bson::element& e : elements_of(array)) {
            rows.push_back({{}, e});
            for (const sort_part& p : parts_)
                rows.back().key.push_back(value_at(e, p.path));
        }
        sort_stably(rows, [&](const row& a, const row& b) {
            for (std::size_t i = 0; i < parts_.size(); ++i) {
                const auto order = compare(a.key[i].get(), b.key[i].get(), in.by);
                if (order != 0)
                    return parts_[i].descending ? order > 0 : order < 0;
            }
            return false;
        });
        list sorted;
        for (const row& r : rows)
            sorted.push_back(r.whole);
        value made = make_array(sorted);
        if (auto paid = in.spend(made.get().value_bytes().size()); !paid)
            return std::move(paid).error();
        return made;
    }

private:
    node_ptr input_;
    std::vector<sort_part> parts_;
};

result<bool> read_direction(const bson::element& e)
{
    const auto n = as_int32(e);
    if (!n || (*n != 1 && *n != -1))
        return refuse(15975, "$sort key ordering must be 1 (for ascending) or -1 (for descending)");
    return *n < 0;
}

result<std::vector<sort_part>> read_sort(const bson::element& by)
{
    std::vector<sort_part> parts;
    if (by.type() != bson::type::document) {
        const auto descending = read_direction(by);
        if (!descending)
            return descending.error();
        parts.push_back({{}, *descending});
        return parts;
    }
    for (const bson::element& e : by.as_document()) {
        const auto descending = read_direction(e);
        if (!descending)
            return descending.error();
        auto path = split_path(e.key());
        if (!path)
            return std::move(path).error();
        parts.push_back({*std::move(path), *descending});
    }
    if (parts.empty())
        return refuse(15976, "$sort stage must have at least one sort key");
    return parts;
}

}  // namespace

std::span<const named_operator> array_operators_with_names()
{
    return array_forms_table;
}

result<node_ptr> compile_sort_array(compiler& with, const bson::element& spec)
{
    if (spec.type() != bson::type::document)
        return refuse(2942500, "$sortArray requires an object as an argument, found: " +
                                   std::string{type_name(spec)});
    bson::element input;
    bson::element by;
    for (const bson::element& e : spec.as_document()) {
        if (e.key() == "input")
            input = e;
        else if (e.key() == "sortBy")
            by = e;
        else
            return refuse(2942501, "$sortArray found an unknown argument: " + std::string{e.key()});
    }
    if (!input)
        return refuse(2942502, "$sortArray requires 'input' to be specified");
    if (!by)
        return refuse(2942503, "$sortArray requires 'sortBy' to be specified");
    auto compiled = with.compile(input);
    if (!compiled)
        return compiled;
    auto parts = read_sort(by);
    if (!parts)
        return std::move(parts).error();
    return std::make_unique<sorted_array>(*std::move(compiled), *std::move(parts));
}

}  // namespace holdfast::lab::computing
