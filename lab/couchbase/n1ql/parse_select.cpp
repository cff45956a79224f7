#include "lab/couchbase/n1ql/statement_parser.hpp"

#include <utility>

namespace holdfast::lab::couchbase::n1ql {

namespace {

/// The name that a value has without an alias: that of its last field.
std::string implied_alias(const expression& of)
{
    const path* const at = std::get_if<path>(&of.is);
    if (!at)
        return {};
    return at->steps.empty() ? at->root : at->steps.back().field;
}

}  // namespace

select_statement statement_parser::select()
{
    select_statement made;
    expect("SELECT");
    if (!accept("ALL"))
        made.distinct = accept("DISTINCT");
    made.raw = accept_raw();
    collect_aggregates(&made.aggregates);
    made.projections = projections(made.raw);
    collect_aggregates(nullptr);
    if (accept("FROM"))
        made.from = from();
    if (is("JOIN") || is("INNER") || is("LEFT") || is("RIGHT") || is("NEST") || is("UNNEST") ||
        (made.from && is_symbol(",")))
        fail("joins are not supported");
    if (is("LET") || is("WITH"))
        fail("LET and WITH are not supported");
    if (accept("WHERE"))
        made.where = any_expression();
    if (is("GROUP") || is("HAVING"))
        fail("GROUP BY is not supported");
    if (is("UNION") || is("INTERSECT") || is("EXCEPT"))
        fail("UNION, INTERSECT and EXCEPT are not supported");
    select_order(made);
    return made;
}

void statement_parser::select_order(select_statement& made)
{
    if (accept_both("ORDER", "BY")) {
        collect_aggregates(&made.aggregates);
        do {
            sort_term one{any_expression()};
            one.descending = accept("DESC");
            if (!one.descending)
                accept("ASC");
            made.order.push_back(std::move(one));
        } while (accept_symbol(","));
        collect_aggregates(nullptr);
    }
    if (accept("LIMIT"))
        made.limit = any_expression();
    if (accept("OFFSET"))
        made.offset = any_expression();
}

/// RAW, and what means the same: ELEMENT and VALUE, which can also be names.
bool statement_parser::accept_raw()
{
    if (accept("RAW"))
        return true;
    if (!is("ELEMENT") && !is("VALUE"))
        return false;
    const token& next = ahead();
    const bool is_a_name = next.kind == token_kind::end || is_keyword(next, "FROM") ||
                           is_keyword(next, "AS") ||
                           (next.kind == token_kind::symbol && next.text != "{" &&
                            next.text != "[" && next.text != "(");
    if (is_a_name)
        return false;
    take();
    return true;
}

std::vector<projection> statement_parser::projections(bool raw)
{
    std::vector<projection> all;
    do {
        all.push_back(one_projection(raw));
    } while (accept_symbol(","));
    if (raw && all.size() != 1)
        fail("RAW has one value");
    return all;
}

projection statement_parser::one_projection(bool raw)
{
    projection made;
    if (accept_symbol("*"))
        return made;
    made.of = any_expression();
    if (is_symbol(".") && ahead().text == "*") {
        take();
        take();
        made.all_fields = true;
        return made;
    }
    made.alias = optional_alias();
    if (made.alias.empty() && !raw)
        made.alias = implied_alias(*made.of);
    return made;
}

std::string statement_parser::optional_alias()
{
    if (accept("AS"))
        return expect_name();
    return is_name() ? take().text : std::string{};
}

keyspace_name statement_parser::keyspace()
{
    keyspace_name made;
    std::string first = expect_name();
    if (accept_symbol(":"))
        made.space = std::exchange(first, expect_name());
    made.parts.push_back(std::move(first));
    while (accept_symbol("."))
        made.parts.push_back(expect_name());
    return made;
}

source statement_parser::from()
{
    source made;
    const bool is_call = ahead().kind == token_kind::symbol && ahead().text == "(";
    if (is_name() && !is_call) {
        made.keyspace = keyspace();
        made.alias = optional_alias();
        if (made.alias.empty())
            made.alias = made.keyspace->parts.back();
        use_keys(made);
        return made;
    }
    made.of = any_expression();
    made.alias = optional_alias();
    if (made.alias.empty())
        made.alias = implied_alias(*made.of);
    if (made.alias.empty())
        fail("what stands after FROM needs an alias");
    return made;
}

void statement_parser::use_keys(source& made)
{
    if (!accept("USE"))
        return;
    if (accept("INDEX")) {  // there is one way to scan
        expect_symbol("(");
        while (!is_symbol(")") && !is_at_end())
            take();
        expect_symbol(")");
        return;
    }
    accept("PRIMARY");
    expect("KEYS");
    made.keys = any_expression();
}

returning statement_parser::returned()
{
    returning made;
    if (!accept("RETURNING"))
        return made;
    made.raw = accept_raw();
    made.projections = projections(made.raw);
    return made;
}

}  // namespace holdfast::lab::couchbase::n1ql
