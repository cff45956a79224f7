#include "lab/mongo/expression/call.hpp"

#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/expression/operators.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace holdfast::lab::computing {

namespace {

/// An operator that gets all its arguments evaluated.
class call_of final : public node {
public:
    call_of(std::string_view name, operation run, std::vector<node_ptr> nodes)
        : name_{name}, run_{run}, nodes_{std::move(nodes)}
    {
    }
    result<value> evaluate(scope& in) const override
    {
        std::vector<value> values;
        values.reserve(nodes_.size());
        for (const node_ptr& n : nodes_) {
            if (!n) {
                values.emplace_back();
                continue;
            }
            auto made = n->evaluate(in);
            if (!made)
                return made;
            values.push_back(*std::move(made));
        }
        auto made = run_({values, nodes_, name_}, in);
        if (!made)
            return made;
        if (auto paid = in.spend(made->get().value_bytes().size()); !paid)
            return std::move(paid).error();
        return made;
    }

private:
    std::string_view name_;  // of the table, which lives forever
    operation run_;
    std::vector<node_ptr> nodes_;
};

template <class Entry>
const Entry* find(std::span<const Entry> table, std::string_view name)
{
    const auto found = std::ranges::find(table, name, &Entry::name);
    return found == table.end() ? nullptr : &*found;
}

const list_operator* find_list_operator(std::string_view name)
{
    for (const auto table :
         {number_operators(), logic_operators(), array_operators(), set_operators(),
          object_operators(), string_operators(), substring_operators(), conversion_operators(),
          date_operators(), accumulating_operators()}) {
        if (const auto* found = find(table, name))
            return found;
    }
    return nullptr;
}

const named_operator* find_named_operator(std::string_view name)
{
    for (const auto table : {array_operators_with_names(), object_operators_with_names(),
                             string_operators_with_names(), regex_operators(),
                             conversion_operators_with_names(), date_operators_with_names()}) {
        if (const auto* found = find(table, name))
            return found;
    }
    return nullptr;
}

const special_form* find_special_form(std::string_view name)
{
    for (const auto table : {conditional_forms(), loop_forms()}) {
        if (const auto* found = find(table, name))
            return found;
    }
    return nullptr;
}

/// Whether it gives the same for all documents. An argument that was left out is null.
bool is_constant_call(std::string_view name, std::span<const node_ptr> nodes)
{
    return name != "$rand" &&
           std::ranges::all_of(nodes, [](const node_ptr& n) { return !n || n->constant(); });
}

result<node_ptr> make_call(compiler& with, std::string_view name, operation run,
                           std::vector<node_ptr> nodes)
{
    const bool constant = is_constant_call(name, nodes);
    node_ptr made = std::make_unique<call_of>(name, run, std::move(nodes));
    return constant ? with.fold_call(std::move(made)) : result<node_ptr>{std::move(made)};
}

error wrong_count(const list_operator& op, std::size_t given)
{
    const std::string name{op.name};
    const std::string passed = std::to_string(given);
    if (op.least == op.most)
        return refuse(16020, "Expression " + name + " takes exactly " + std::to_string(op.least) +
                                 " arguments. " + passed + " were passed in.");
    if (op.name == "$ifNull")
        return refuse(1257300, "$ifNull needs at least two arguments, had: " + passed);
    if (op.name == "$setEquals")
        return refuse(17045, "$setEquals needs at least two arguments had: " + passed);
    return refuse(28667, "Expression " + name + " takes at least " + std::to_string(op.least) +
                             " arguments, and at most " + std::to_string(op.most) + ", but " +
                             passed + " were passed in.");
}

result<node_ptr> compile_list(compiler& with, const list_operator& op, const bson::element& given)
{
    std::vector<node_ptr> nodes;
    const auto take = [&](const bson::element& e) -> result<void> {
        auto made = with.compile(e);
        if (!made)
            return std::move(made).error();
        nodes.push_back(*std::move(made));
        return {};
    };
    if (given.type() == bson::type::array) {
        for (const bson::element& e : given.as_array()) {
            if (auto taken = take(e); !taken)
                return std::move(taken).error();
        }
    } else if (op.most != 0) {
        if (auto taken = take(given); !taken)
            return std::move(taken).error();
    }
    if (nodes.size() < op.least || (op.most != list_operator::any && nodes.size() > op.most))
        return wrong_count(op, nodes.size());
    return make_call(with, op.name, op.run, std::move(nodes));
}

result<node_ptr> compile_named(compiler& with, const named_operator& op, const bson::element& given)
{
    const std::string name{op.name};
    if (given.type() != bson::type::document)
        return refuse(op.not_an_object, name + " requires an object as an argument, found: " +
                                            std::string{type_name(given)});
    std::size_t count = 0;
    while (count < op.parameters.size() && !op.parameters[count].name.empty())
        ++count;
    std::vector<node_ptr> nodes(count);
    for (const bson::element& e : given.as_document()) {
        if (e.malformed())
            return refuse(22, "malformed BSON in " + name);
        const auto found = std::ranges::find(op.parameters, e.key(),
                                             &named_operator::parameter::name);
        const auto at = static_cast<std::size_t>(found - op.parameters.begin());
        if (at >= count)
            return refuse(op.unknown, name + " found an unknown argument: " + std::string{e.key()});
        auto made = with.compile(e);
        if (!made)
            return made;
        nodes[at] = *std::move(made);
    }
    for (std::size_t i = 0; i < count; ++i) {
        if (!nodes[i] && op.parameters[i].missing != 0)
            return refuse(op.parameters[i].missing, name + " requires '" +
                                                        std::string{op.parameters[i].name} +
                                                        "' to be specified");
    }
    return make_call(with, op.name, op.run, std::move(nodes));
}

/// {$getField: "a"} is short for {$getField: {field: "a", input: "$$CURRENT"}}.
result<node_ptr> compile_short_get_field(compiler& with, const named_operator& op,
                                         const bson::element& given)
{
    std::vector<node_ptr> nodes(2);
    auto field = with.compile(given);
    if (!field)
        return field;
    const value current = value::of("$$CURRENT");
    auto input = with.compile(current.get());
    if (!input)
        return input;
    nodes[0] = *std::move(field);
    nodes[1] = *std::move(input);
    return make_call(with, op.name, op.run, std::move(nodes));
}

bool is_short_get_field(const bson::element& given)
{
    if (given.type() != bson::type::document)
        return true;
    const auto first = given.as_document().begin();
    return first != std::default_sentinel && first->key().starts_with('$');
}

}  // namespace

result<node_ptr> compile_call(compiler& with, const bson::element& call)
{
    if (call.key() == "$literal" || call.key() == "$const")
        return constant_node(value{call});
    if (const auto* form = find_special_form(call.key()))
        return with.compile_form(*form, call);
    if (const auto* op = find_list_operator(call.key()))
        return compile_list(with, *op, call);
    if (const auto* op = find_named_operator(call.key())) {
        if (op->name == "$getField" && is_short_get_field(call))
            return compile_short_get_field(with, *op, call);
        return compile_named(with, *op, call);
    }
    return refuse(server_code::unrecognized_expression,
                  "Unrecognized expression '" + std::string{call.key()} + "'");
}

}  // namespace holdfast::lab::computing

namespace holdfast::lab {

result<void> check_projected(bson::view value)
{
    using namespace computing;
    const auto first = value.begin();
    if (first == std::default_sentinel || std::next(first) != std::default_sentinel)
        return {};
    const std::string_view name = first->key();
    const bool known = !name.starts_with('$') || name == "$literal" || name == "$const" ||
                       find_special_form(name) || find_list_operator(name) ||
                       find_named_operator(name);
    if (known)
        return {};
    return refuse(31325, "Unknown expression " + std::string{name});
}

}  // namespace holdfast::lab
