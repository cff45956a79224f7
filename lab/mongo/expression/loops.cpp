#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/expression/compiler.hpp"
#include "lab/mongo/expression/expression.hpp"
#include "lab/mongo/expression/number.hpp"
#include "lab/mongo/expression/operators.hpp"
#include "lab/mongo/expression/sort_array.hpp"

#include <string>
#include <utility>

namespace holdfast::lab::computing {

namespace {

// ---- $let ----

class let_in final : public node {
public:
    let_in(std::vector<node_ptr> values, node_ptr body)
        : values_{std::move(values)}, body_{std::move(body)}
    {
    }
    result<value> evaluate(scope& in) const override
    {
        std::vector<value> made;
        for (const node_ptr& n : values_) {
            auto one = n->evaluate(in);
            if (!one)
                return one;
            made.push_back(*std::move(one));
        }
        const std::size_t before = in.slots.size();
        for (value& v : made)
            in.slots.push_back(std::move(v));
        auto whole = body_->evaluate(in);
        in.slots.resize(before);
        return whole;
    }

private:
    std::vector<node_ptr> values_;
    node_ptr body_;
};

/// The fields of {$map: {...}} by name; `in_order` says which there are.
struct loop_fields {
    bson::element at[4];
};
struct loop_rules {
    std::string_view name;
    int not_an_object;
    int unknown;
    std::string_view fields[4];
    int missing[4];  // zero: may be left out
};

result<loop_fields> read_fields(const bson::element& spec, const loop_rules& rules)
{
    const std::string name{rules.name};
    if (spec.type() != bson::type::document)
        return refuse(rules.not_an_object, name + " only supports an object as its argument");
    loop_fields found;
    for (const bson::element& e : spec.as_document()) {
        std::size_t at = 0;
        while (at < 4 && (rules.fields[at].empty() || rules.fields[at] != e.key()))
            ++at;
        if (at == 4)
            return refuse(rules.unknown,
                          "Unrecognized parameter to " + name + ": " + std::string{e.key()});
        found.at[at] = e;
    }
    for (std::size_t i = 0; i < 4; ++i) {
        if (!found.at[i] && rules.missing[i] != 0)
            return refuse(rules.missing[i],
                          "Missing '" + std::string{rules.fields[i]} + "' parameter to " + name);
    }
    return found;
}

result<node_ptr> compile_let(compiler& with, const bson::element& spec)
{
    constexpr loop_rules rules{"$let", 16874, 16875, {"vars", "in", "", ""}, {16876, 16877, 0, 0}};
    const auto fields = read_fields(spec, rules);
    if (!fields)
        return fields.error();
    if (fields->at[0].type() != bson::type::document)
        return refuse(10065, "invalid parameter: expected an object (vars)");
    std::vector<std::string> names;
    std::vector<node_ptr> values;
    for (const bson::element& e : fields->at[0].as_document()) {
        if (auto good = check_variable_name(e.key(), true); !good)
            return std::move(good).error();
        auto made = with.compile(e);
        if (!made)
            return made;
        names.emplace_back(e.key());
        values.push_back(*std::move(made));
    }
    auto body = with.compile_with(std::move(names), fields->at[1]);
    if (!body)
        return body;
    return std::make_unique<let_in>(std::move(values), *std::move(body));
}

/// What $map and $filter call the element: "this" unless the user says `as`.
result<std::string> element_name(const bson::element& as, std::string_view of)
{
    if (!as)
        return std::string{"this"};
    if (as.type() != bson::type::string)
        return refuse(server_code::type_mismatch,
                      "'as' of " + std::string{of} + " must be a string");
    if (auto good = check_variable_name(as.as_string(), false); !good)
        return std::move(good).error();
    return std::string{as.as_string()};
}

// ---- $map, $filter ----

class each_of final : public node {
public:
    each_of(node_ptr input, node_ptr body, node_ptr limit, bool filter)
        : input_{std::move(input)},
          body_{std::move(body)},
          limit_{std::move(limit)},
          filter_{filter}
    {
    }
    result<value> evaluate(scope& in) const override
    {
        const auto input = input_->evaluate(in);
        if (!input)
            return input;
        const bson::element list = input->get();
        if (is_nullish(list))
            return null_value();
        if (list.type() != bson::type::array)
            return refuse(filter_ ? 28651 : 16883,
                          "input to " + std::string{filter_ ? "$filter" : "$map"} +
                              " must be an array not " + std::string{type_name(list)});
        const auto most = read_limit(in);
        if (!most)
            return most.error();
        return walk(list.as_array(), *most, in);
    }

private:
    result<std::int32_t> read_limit(scope& in) const
    {
        if (!limit_)
            return INT32_MAX;
        const auto made = limit_->evaluate(in);
        if (!made)
            return made.error();
        if (is_nullish(made->get()))
            return INT32_MAX;
        const auto most = as_int32(made->get());
        if (!most)
            return refuse(327391,
                          "$filter: limit must be represented as a 32-bit integral value: " +
                              to_text(made->get()));
        if (*most < 1)
            return refuse(327392,
                          "$filter: limit must be greater than 0: " + std::to_string(*most));
        return *most;
    }

    result<value> walk(bson::array_view list, std::int32_t most, scope& in) const
    {
        bson::byte_buffer bytes;
        bson::array_builder out{bytes};
        const std::size_t slot = in.slots.size();
        in.slots.emplace_back();
        std::int32_t kept = 0;
        for (const bson::element& e : list) {
            in.slots[slot] = value{e};
            auto made = body_->evaluate(in);
            if (!made)
                return made;
            if (auto paid = in.spend(bytes.size() > max_value_size ? bytes.size() : 0); !paid)
                return std::move(paid).error();
            if (!filter_ && made->missing())
                out.add(bson::null{});
            else if (!filter_)
                out.copy(made->get());
            else if (is_true(made->get())) {
                out.copy(e);
                if (++kept == most)
                    break;
            }
        }
        in.slots.resize(slot);
        auto done = out.finish();
        if (!done)
            return std::move(done).error();
        if (auto paid = in.spend(done->bytes().size()); !paid)
            return std::move(paid).error();
        return value{*done};
    }

    node_ptr input_;
    node_ptr body_;
    node_ptr limit_;
    bool filter_;
};

result<node_ptr> compile_each(compiler& with, const bson::element& spec, const loop_rules& rules)
{
    const auto fields = read_fields(spec, rules);
    if (!fields)
        return fields.error();
    const auto& [input, as, body, limit] = fields->at;
    auto name = element_name(as, rules.name);
    if (!name)
        return std::move(name).error();
    auto list = with.compile(input);
    if (!list)
        return list;
    node_ptr most;
    if (limit) {
        auto made = with.compile(limit);
        if (!made)
            return made;
        most = *std::move(made);
    }
    std::vector<std::string> names;
    names.push_back(*std::move(name));
    auto inner = with.compile_with(std::move(names), body);
    if (!inner)
        return inner;
    return std::make_unique<each_of>(*std::move(list), *std::move(inner), std::move(most),
                                     rules.name == "$filter");
}

result<node_ptr> compile_map(compiler& with, const bson::element& spec)
{
    constexpr loop_rules rules{
        "$map", 16878, 16879, {"input", "as", "in", ""}, {16880, 0, 16882, 0}};
    return compile_each(with, spec, rules);
}

result<node_ptr> compile_filter(compiler& with, const bson::element& spec)
{
    constexpr loop_rules rules{
        "$filter", 28646, 28647, {"input", "as", "cond", "limit"}, {28648, 0, 28650, 0}};
    return compile_each(with, spec, rules);
}

// ---- $reduce ----

class reduced final : public node {
public:
    reduced(node_ptr input, node_ptr initial, node_ptr body)
        : input_{std::move(input)}, initial_{std::move(initial)}, body_{std::move(body)}
    {
    }
    result<value> evaluate(scope& in) const override
    {
        const auto input = input_->evaluate(in);
        if (!input)
            return input;
        const bson::element list = input->get();
        if (is_nullish(list))
            return null_value();
        if (list.type() != bson::type::array)
            return refuse(40080,
                          "$reduce requires that 'input' be an array, found: " + to_text(list));
        auto so_far = initial_->evaluate(in);
        if (!so_far)
            return so_far;
        const std::size_t slot = in.slots.size();
        in.slots.resize(slot + 2);
        for (const bson::element& e : list.as_array()) {
            in.slots[slot] = value{e};
            in.slots[slot + 1] = *std::move(so_far);
            so_far = body_->evaluate(in);
            if (!so_far)
                return so_far;
            if (auto good = check(so_far->get(), in); !good)
                return std::move(good).error();
        }
        in.slots.resize(slot);
        return so_far;
    }

private:
    /// Here alone a value can wrap itself again and again.
    static result<void> check(const bson::element& made, scope& in)
    {
        const bool nested = made.type() == bson::type::document || made.type() == bson::type::array;
        if (nested && !is_shallow(made.as_document(), max_result_depth))
            return refuse(server_code::overflow, "$reduce made a value that is nested too deeply");
        return in.spend(nested ? made.value_bytes().size() : 0);
    }

    node_ptr input_;
    node_ptr initial_;
    node_ptr body_;
};

result<node_ptr> compile_reduce(compiler& with, const bson::element& spec)
{
    constexpr loop_rules rules{
        "$reduce", 40075, 40076, {"input", "initialValue", "in", ""}, {40077, 40078, 40079, 0}};
    const auto fields = read_fields(spec, rules);
    if (!fields)
        return fields.error();
    auto input = with.compile(fields->at[0]);
    if (!input)
        return input;
    auto initial = with.compile(fields->at[1]);
    if (!initial)
        return initial;
    std::vector<std::string> names;
    names.emplace_back("this");
    names.emplace_back("value");
    auto body = with.compile_with(std::move(names), fields->at[2]);
    if (!body)
        return body;
    return std::make_unique<reduced>(*std::move(input), *std::move(initial), *std::move(body));
}

constexpr special_form loops_table[] = {
    {"$let", compile_let},
    {"$map", compile_map},
    {"$filter", compile_filter},
    {"$reduce", compile_reduce},
    {"$sortArray", compile_sort_array},
};

}  // namespace

std::span<const special_form> loop_forms()
{
    return loops_table;
}

}  // namespace holdfast::lab::computing
