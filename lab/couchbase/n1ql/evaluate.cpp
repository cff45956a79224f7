#include "lab/couchbase/n1ql/evaluate.hpp"

#include "lab/couchbase/n1ql/operators.hpp"
#include "lab/couchbase/n1ql/query_error.hpp"

#include <utility>

namespace holdfast::lab::couchbase::n1ql {

namespace {

value field_of(const json::value& of, const std::string& name)
{
    const json::object* const object = of.if_object();
    if (!object)
        return null_result();
    const json::value* const found = object->if_contains(name);
    return found ? value{*found} : value{};
}

value element_of(const json::value& of, const value& index)
{
    if (!index)
        return {};
    if (const json::string* const name = string_in(index); name && of.is_object())
        return field_of(of, std::string{view(*name)});
    const json::array* const list = of.if_array();
    auto at = integer_in(index);
    if (!list || !at)
        return null_result();
    const auto size = static_cast<std::int64_t>(list->size());
    if (*at < 0)
        *at += size;
    if (*at < 0 || *at >= size)
        return {};
    return (*list)[static_cast<std::size_t>(*at)];
}

std::size_t memory_of(const json::value& of)
{
    std::size_t bytes = sizeof(json::value);
    if (const json::string* const text = of.if_string()) {
        bytes += text->size();
    } else if (const json::array* const list = of.if_array()) {
        for (const json::value& one : *list)
            bytes += memory_of(one);
    } else if (const json::object* const object = of.if_object()) {
        for (const auto& [name, member] : *object)
            bytes += name.size() + memory_of(member);
    }
    return bytes;
}

/// Carries out what stands in an expression.
class evaluator {
public:
    evaluator(const row_view& at, environment& in) noexcept : at_{at}, in_{in} {}

    value of(const expression_ptr& what) { return std::visit(*this, what->is); }

    value operator()(const literal& what) { return what.is; }
    value operator()(const parameter& what);
    value operator()(const path& what);
    value operator()(const unary& what);
    value operator()(const logic& what);
    value operator()(const comparison& what)
    {
        const value left = of(what.left);
        return relation_result(what.op, left, of(what.right));
    }
    value operator()(const arithmetic& what);
    value operator()(const between& what);
    value operator()(const membership& what)
    {
        const value left = of(what.of);
        return negated_if(what.negated, is_element(left, of(what.in)));
    }
    value operator()(const likeness& what);
    value operator()(const call& what);
    value operator()(const metadata&);
    value operator()(const aggregate& what);
    value operator()(const object_maker& what);
    value operator()(const array_maker& what);

private:
    void fail(query_code code, std::string reason)
    {
        if (!in_.failed)
            in_.failed = refuse(code, std::move(reason));
    }
    /// A statement can name the same large value very often.
    value copied(const json::value& of)
    {
        return take_memory(in_, memory_of(of)) ? value{of} : value{};
    }
    value root_of(const path& what);
    /// The same without a copy, if all steps are fields; null if it has to be computed.
    const json::value* find_plain(const path& what) const;

    const row_view& at_;
    environment& in_;
};

value evaluator::operator()(const parameter& what)
{
    const json::value* found = nullptr;
    if (what.place != 0 && in_.positional && what.place <= in_.positional->size())
        found = &(*in_.positional)[what.place - 1];
    else if (what.place == 0 && in_.named)
        found = in_.named->if_contains(what.name);
    if (found)
        return copied(*found);
    fail(query_code::evaluation,
         "Error evaluating projection - cause: No value for " +
             (what.place == 0 ? "named parameter $" + what.name
                              : "positional parameter $" + std::to_string(what.place)));
    return {};
}

value evaluator::root_of(const path& what)
{
    if (what.from)
        return of(what.from);
    if (!at_.has_source || !at_.item) {
        if (at_.aggregates)
            fail(query_code::not_an_aggregate, "Expression (`" + what.root +
                                                   "`) must depend only on group keys or "
                                                   "aggregates.");
        fail(query_code::ambiguous_reference, "Ambiguous reference to field '" + what.root + "'");
        return {};
    }
    if (what.root == at_.alias)
        return copied(*at_.item);
    const json::object* const object = at_.item->if_object();
    const json::value* const found = object ? object->if_contains(what.root) : nullptr;
    return found ? copied(*found) : value{};
}

const json::value* evaluator::find_plain(const path& what) const
{
    if (what.from || !at_.has_source || !at_.item)
        return nullptr;
    const json::value* found = at_.item;
    const auto enter = [&](const std::string& name) {
        const json::object* const object = found ? found->if_object() : nullptr;
        found = object ? object->if_contains(name) : nullptr;
    };
    if (what.root != at_.alias)
        enter(what.root);
    for (const path_step& one : what.steps) {
        if (one.index)
            return nullptr;
        enter(one.field);
    }
    return found;
}

value evaluator::operator()(const path& what)
{
    if (const json::value* const found = find_plain(what))
        return copied(*found);
    value found = root_of(what);
    for (const path_step& one : what.steps) {
        if (!found)
            return {};
        found = one.index ? element_of(*found, of(one.index)) : field_of(*found, one.field);
    }
    return found;
}

value evaluator::operator()(const unary& what)
{
    const value operand = of(what.of);
    const kind found = kind_of(operand);
    using op = unary_operator;
    switch (what.op) {
    case op::negate: return arithmetic_result('-', value{std::int64_t{0}}, operand);
    case op::logical_not: return negated_if(true, operand);
    case op::is_null: return found == kind::missing ? value{} : value{found == kind::null};
    case op::is_not_null: return found == kind::missing ? value{} : value{found != kind::null};
    case op::is_missing: return found == kind::missing;
    case op::is_not_missing: return found != kind::missing;
    case op::is_valued: return found > kind::null;
    case op::is_not_valued: return found <= kind::null;
    }
    return {};
}

/// What decides by itself decides, whatever the others are. Else AND gives MISSING before NULL, and
/// OR the other way round.
value evaluator::operator()(const logic& what)
{
    bool missing = false;
    bool null = false;
    for (const expression_ptr& one : what.of) {
        const value operand = of(one);
        const kind found = kind_of(operand);
        missing = missing || found == kind::missing;
        null = null || found == kind::null;
        if (found > kind::null && is_true(operand) != what.all)
            return !what.all;
    }
    if (what.all)
        return missing ? value{} : null ? null_result() : value{true};
    return null ? null_result() : missing ? value{} : value{false};
}

value evaluator::operator()(const arithmetic& what)
{
    value made = of(what.first);
    for (const auto& [op, operand] : what.rest) {
        const value more = of(operand);
        if (op != '|')
            made = arithmetic_result(op, made, more);
        else if (!string_in(more) || take_memory(in_, string_in(more)->size()))
            join(made, more);
    }
    return made;
}

value evaluator::operator()(const between& what)
{
    const value operand = of(what.of);
    const value above = relation_result(relation::greater_equal, operand, of(what.low));
    const value below = relation_result(relation::less_equal, operand, of(what.high));
    for (const value& one : {above, below}) {
        if (!is_null_or_missing(one) && !is_true(one))
            return what.negated;
    }
    if (auto absent = absence(above, below))
        return *std::move(absent);
    return !what.negated;
}

value evaluator::operator()(const likeness& what)
{
    const value operand = of(what.of);
    const value pattern = of(what.pattern);
    if (auto absent = absence(operand, pattern))
        return *std::move(absent);
    const json::string* const text = string_in(operand);
    const json::string* const like = string_in(pattern);
    if (!text || !like)
        return null_result();
    return is_like(view(*text), view(*like)) != what.negated;
}

value evaluator::operator()(const call& what)
{
    std::vector<value> arguments;
    arguments.reserve(what.arguments.size());
    bool null = false;
    for (const expression_ptr& one : what.arguments) {
        arguments.push_back(of(one));
        if (!arguments.back() && !what.what->takes_nothing)
            return {};
        null = null || kind_of(arguments.back()) == kind::null;
    }
    if (null && !what.what->takes_nothing)
        return null_result();
    return what.what->run(arguments, in_);
}

value evaluator::operator()(const metadata&)
{
    if (!at_.metadata)
        return {};
    const item_metadata& of = *at_.metadata;
    return json::object{{"id", text(of.id)},
                        {"cas", of.cas},
                        {"expiration", of.expiration},
                        {"flags", of.flags},
                        {"type", of.json ? "json" : "base64"}};
}

value evaluator::operator()(const aggregate& what)
{
    return at_.aggregates ? at_.aggregates->at(what.place) : value{};
}

value evaluator::operator()(const object_maker& what)
{
    json::object made;
    for (const auto& [name, member] : what.members) {
        const value key = of(name);
        value content = of(member);
        if (!string_in(key))
            return null_result();
        if (content)
            made[*string_in(key)] = *std::move(content);
    }
    return made;
}

value evaluator::operator()(const array_maker& what)
{
    json::array made;
    for (const expression_ptr& one : what.elements)
        made.push_back(of(one).value_or(json::value(nullptr)));
    return made;
}

}  // namespace

value evaluate(const expression& what, const row_view& at, environment& in)
{
    evaluator by{at, in};
    return std::visit(by, what.is);
}

bool holds(const expression_ptr& condition, const row_view& at, environment& in)
{
    return !condition || is_true(evaluate(*condition, at, in));
}

}  // namespace holdfast::lab::couchbase::n1ql
