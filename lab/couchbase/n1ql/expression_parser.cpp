#include "lab/couchbase/n1ql/expression_parser.hpp"

#include "lab/couchbase/n1ql/functions.hpp"
#include "lab/couchbase/n1ql/parser.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace holdfast::lab::couchbase::n1ql {

namespace {

template <class Kind>
expression_ptr made_of(Kind what)
{
    return std::make_unique<expression>(expression{std::move(what)});
}

expression_ptr constant(value of)
{
    return made_of(literal{std::move(of)});
}

std::optional<aggregate_kind> aggregate_named(std::string_view name)
{
    constexpr std::pair<std::string_view, aggregate_kind> names[] = {
        {"COUNT", aggregate_kind::count}, {"SUM", aggregate_kind::sum},
        {"MIN", aggregate_kind::min},     {"MAX", aggregate_kind::max},
        {"AVG", aggregate_kind::avg},     {"ARRAY_AGG", aggregate_kind::array_agg},
    };
    for (const auto& [known, what] : names) {
        if (known == name)
            return what;
    }
    return std::nullopt;
}

std::string in_capitals(std::string_view name)
{
    std::string made{name};
    std::ranges::transform(made, made.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    return made;
}

std::optional<relation> relation_of(std::string_view symbol)
{
    if (symbol == "=" || symbol == "==")
        return relation::equal;
    if (symbol == "!=" || symbol == "<>")
        return relation::not_equal;
    if (symbol == "<" || symbol == "<=")
        return symbol.size() == 1 ? relation::less : relation::less_equal;
    if (symbol == ">" || symbol == ">=")
        return symbol.size() == 1 ? relation::greater : relation::greater_equal;
    return std::nullopt;
}

}  // namespace

/// Into a nested expression; false if that would be too deep.
bool expression_parser::enter()
{
    if (++depth_ <= deepest_expression)
        return true;
    fail("expressions are nested too deeply");
    return false;
}

expression_ptr expression_parser::any_expression()
{
    expression_ptr made = constant({});
    if (enter()) {
        made = conjunction();
        if (is("OR")) {
            logic any{false, {}};
            any.of.push_back(std::move(made));
            while (accept("OR"))
                any.of.push_back(conjunction());
            made = made_of(std::move(any));
        }
    }
    --depth_;
    return made;
}

expression_ptr expression_parser::conjunction()
{
    expression_ptr first = negation();
    if (!is("AND"))
        return first;
    logic all{true, {}};
    all.of.push_back(std::move(first));
    while (accept("AND"))
        all.of.push_back(negation());
    return made_of(std::move(all));
}

expression_ptr expression_parser::negation()
{
    if (!accept("NOT"))
        return relations();
    expression_ptr made = constant({});
    if (enter())
        made = made_of(unary{unary_operator::logical_not, negation()});
    --depth_;
    return made;
}

expression_ptr expression_parser::relations()
{
    expression_ptr made = concatenation();
    for (std::size_t count = 0; !is_at_end(); ++count) {
        const std::size_t before = here().begin;
        if (count == deepest_expression)
            fail("too many comparisons in one expression");
        made = relation_to(std::move(made));
        if (here().begin == before)
            break;
    }
    return made;
}

expression_ptr expression_parser::relation_to(expression_ptr left)
{
    if (here().kind == token_kind::symbol) {
        const auto op = relation_of(here().text);
        if (!op)
            return left;
        take();
        return made_of(comparison{*op, std::move(left), concatenation()});
    }
    if (is("IS"))
        return is_relation(std::move(left));
    const bool negated = is("NOT");
    const token& what = negated ? ahead() : here();
    const bool known = is_keyword(what, "IN") || is_keyword(what, "LIKE") ||
                       is_keyword(what, "BETWEEN");
    if (!known)
        return left;
    if (negated)
        take();
    if (accept("IN"))
        return made_of(membership{negated, std::move(left), concatenation()});
    if (accept("LIKE"))
        return made_of(likeness{negated, std::move(left), concatenation()});
    expect("BETWEEN");
    expression_ptr low = concatenation();
    expect("AND");
    return made_of(between{negated, std::move(left), std::move(low), concatenation()});
}

expression_ptr expression_parser::is_relation(expression_ptr left)
{
    expect("IS");
    const bool negated = accept("NOT");
    using op = unary_operator;
    if (accept("NULL"))
        return made_of(unary{negated ? op::is_not_null : op::is_null, std::move(left)});
    if (accept("MISSING"))
        return made_of(unary{negated ? op::is_not_missing : op::is_missing, std::move(left)});
    if (!accept("VALUED") && !accept("KNOWN"))
        fail();
    return made_of(unary{negated ? op::is_not_valued : op::is_valued, std::move(left)});
}

expression_ptr expression_parser::chain(std::string_view operators, operand next)
{
    const auto is_operator = [&] {
        return here().kind == token_kind::symbol &&
               operators.find(here().text.front()) != operators.npos &&
               (here().text.size() == 1 || here().text == "||");
    };
    expression_ptr first = (this->*next)();
    if (!is_operator())
        return first;
    arithmetic made{std::move(first), {}};
    while (is_operator()) {
        const char op = take().text.front();
        made.rest.emplace_back(op, (this->*next)());
    }
    return made_of(std::move(made));
}

expression_ptr expression_parser::signed_value()
{
    if (!is_symbol("-") && !is_symbol("+"))
        return postfix();
    const bool negative = take().text == "-";
    expression_ptr made = constant({});
    if (enter())
        made = signed_value();
    --depth_;
    return negative ? made_of(unary{unary_operator::negate, std::move(made)}) : std::move(made);
}

std::vector<path_step> expression_parser::path_steps()
{
    std::vector<path_step> steps;
    for (;;) {
        // `a.*` is for who reads a projection.
        const bool field = is_symbol(".") && !(ahead().kind == token_kind::symbol);
        if (field) {
            take();
            if (here().kind != token_kind::name && here().kind != token_kind::quoted_name)
                fail();
            steps.push_back({take().text, nullptr});
        } else if (accept_symbol("[")) {
            steps.push_back({{}, any_expression()});
            expect_symbol("]");
        } else {
            return steps;
        }
    }
}

expression_ptr expression_parser::postfix()
{
    if (is_name() && !(ahead().kind == token_kind::symbol && ahead().text == "(")) {
        std::string root = take().text;
        return made_of(path{std::move(root), nullptr, path_steps()});
    }
    expression_ptr made = primary();
    auto steps = path_steps();
    if (steps.empty())
        return made;
    return made_of(path{{}, std::move(made), std::move(steps)});
}

expression_ptr expression_parser::primary()
{
    switch (here().kind) {
    case token_kind::string: return constant(n1ql::text(take().text));
    case token_kind::number: return number_literal();
    case token_kind::parameter: return parameter_value();
    case token_kind::name:
    case token_kind::quoted_name: return named_value();
    case token_kind::symbol: break;
    case token_kind::end: fail(); return constant({});
    }
    if (accept_symbol("(")) {
        if (is("SELECT"))
            fail("subqueries are not supported");
        expression_ptr made = any_expression();
        expect_symbol(")");
        return made;
    }
    if (accept_symbol("["))
        return made_of(array_maker{list_until("]")});
    if (accept_symbol("{"))
        return object();
    fail();
    return constant({});
}

expression_ptr expression_parser::named_value()
{
    if (accept("TRUE"))
        return constant(json::value(true));
    if (accept("FALSE"))
        return constant(json::value(false));
    if (accept("NULL"))
        return constant(json::value(nullptr));
    if (accept("MISSING"))
        return constant({});
    if (is_reserved(here()) || !(ahead().kind == token_kind::symbol && ahead().text == "(")) {
        fail();
        return constant({});
    }
    const std::string called = in_capitals(take().text);
    expect_symbol("(");
    if (called == "META") {
        if (!is_symbol(")"))
            (void)expect_name();
        expect_symbol(")");
        return made_of(metadata{});
    }
    if (const auto what = aggregate_named(called))
        return aggregate_call(*what);
    return function_call(called);
}

expression_ptr expression_parser::function_call(const std::string& called)
{
    const function* const what = find_function(called);
    if (!what) {
        fail("there is no function " + called);
        return constant({});
    }
    call made{what, list_until(")")};
    if (made.arguments.size() < what->least || made.arguments.size() > what->most)
        fail("the number of arguments is wrong for " + called);
    return made_of(std::move(made));
}

expression_ptr expression_parser::aggregate_call(aggregate_kind what)
{
    auto* const into = std::exchange(aggregates_, nullptr);  // none inside another
    if (!into)
        fail("an aggregate cannot stand here");
    aggregate made{what, accept("DISTINCT"), nullptr, into ? into->size() : 0};
    if (!(what == aggregate_kind::count && accept_symbol("*")))
        made.of = any_expression();
    expect_symbol(")");
    aggregates_ = into;
    auto whole = std::make_unique<expression>(expression{std::move(made)});
    if (into)
        into->push_back(std::get_if<aggregate>(&whole->is));
    return whole;
}

expression_ptr expression_parser::number_literal()
{
    const std::string digits = take().text;
    const char* const end = digits.data() + digits.size();
    std::int64_t whole = 0;
    const auto read = std::from_chars(digits.data(), end, whole);
    if (read.ec == std::errc{} && read.ptr == end)
        return constant(json::value(whole));
    double broken = 0;
    const auto again = std::from_chars(digits.data(), end, broken);
    if (again.ec != std::errc{} || again.ptr != end)
        fail("a number is out of range");
    return constant(number(broken));
}

expression_ptr expression_parser::parameter_value()
{
    std::string name = take().text;
    std::size_t place = 0;
    const char* const end = name.data() + name.size();
    const auto read = std::from_chars(name.data(), end, place);
    if (read.ptr != end || read.ec != std::errc{})
        return made_of(parameter{std::move(name), 0});
    if (place == 0 || place > 1000)
        fail("parameters are counted from 1, to 1000");
    parameters_ = std::max(parameters_, place);
    return made_of(parameter{{}, place});
}

expression_ptr expression_parser::object()
{
    object_maker made;
    while (!is_symbol("}")) {
        expression_ptr member = any_expression();
        expect_symbol(":");
        made.members.emplace_back(std::move(member), any_expression());
        if (!accept_symbol(","))
            break;
    }
    expect_symbol("}");
    return made_of(std::move(made));
}

std::vector<expression_ptr> expression_parser::list_until(std::string_view closing)
{
    std::vector<expression_ptr> all;
    while (!is_symbol(closing)) {
        all.push_back(any_expression());
        if (!accept_symbol(","))
            break;
    }
    expect_symbol(closing);
    return all;
}

}  // namespace holdfast::lab::couchbase::n1ql
