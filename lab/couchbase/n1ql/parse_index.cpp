#include "lab/couchbase/n1ql/statement_parser.hpp"

#include <memory>
#include <utility>

namespace holdfast::lab::couchbase::n1ql {

namespace {

std::string in_back_ticks(std::string_view name)
{
    std::string made = "`";
    for (const char c : name) {
        if (c == '`')
            made += c;
        made += c;
    }
    return made + '`';
}

/// "a.b" as servers write it; none if it is not so plain.
std::string plain_path(const expression& of)
{
    const path* const at = std::get_if<path>(&of.is);
    if (!at || at->from)
        return {};
    std::string made = in_back_ticks(at->root);
    for (const path_step& one : at->steps) {
        if (one.index)
            return {};
        made = "(" + made + "." + in_back_ticks(one.field) + ")";
    }
    return made;
}

}  // namespace

/// IF EXISTS or IF NOT EXISTS.
bool statement_parser::accept_if(std::string_view first, std::string_view second)
{
    if (!is("IF"))
        return false;
    take();
    expect(first);
    if (!second.empty())
        expect(second);
    return true;
}

create_index_statement statement_parser::create_index()
{
    create_index_statement made;
    made.primary = accept("PRIMARY");
    expect("INDEX");
    made.if_not_exists = accept_if("NOT", "EXISTS");
    if (!made.primary || is_name())
        made.name = expect_name();
    made.if_not_exists = accept_if("NOT", "EXISTS") || made.if_not_exists;
    expect("ON");
    made.on = keyspace();
    if (!made.primary) {
        expect_symbol("(");
        do {
            made.keys.push_back(index_key());
        } while (accept_symbol(","));
        expect_symbol(")");
    }
    if (accept("WHERE")) {
        const std::size_t begin = here().begin;
        (void)any_expression();
        const std::size_t end = is_at_end() ? text().size() : here().begin;
        made.condition = "(" + std::string{text_between(begin, end)} + ")";
    }
    using_gsi();
    if (accept("WITH"))
        made.with = any_expression();
    return made;
}

std::string statement_parser::index_key()
{
    const std::size_t begin = here().begin;
    const expression_ptr key = any_expression();
    std::string made = plain_path(*key);
    if (made.empty())
        made = text_between(begin, here().begin);
    if (accept("DESC"))
        made += " DESC";
    else
        accept("ASC");
    return made;
}

void statement_parser::using_gsi()
{
    if (accept("USING") && !accept("GSI") && !accept("VIEW"))
        fail();
}

/// "INDEX a ON k", "PRIMARY INDEX ON k", and as it was once: "INDEX k.a".
drop_index_statement statement_parser::drop_index()
{
    drop_index_statement made;
    made.primary = accept("PRIMARY");
    expect("INDEX");
    made.if_exists = accept_if("EXISTS");
    if (!made.primary) {
        made.on = keyspace();
        if (!made.on.parts.empty()) {
            made.name = std::move(made.on.parts.back());
            made.on.parts.pop_back();
        }
    }
    made.if_exists = accept_if("EXISTS") || made.if_exists;
    if (made.primary || made.on.parts.empty()) {
        expect("ON");
        made.on = keyspace();
    }
    using_gsi();
    return made;
}

build_index_statement statement_parser::build_index()
{
    build_index_statement made;
    expect("INDEX");
    expect("ON");
    made.on = keyspace();
    expect_symbol("(");
    const bool in_parentheses = is_symbol("(");
    if (in_parentheses)
        take();
    if (is("SELECT")) {
        made.query = std::make_unique<select_statement>(select());
    } else {
        do {
            made.names.push_back(here().kind == token_kind::string ? take().text : expect_name());
        } while (accept_symbol(","));
    }
    if (in_parentheses)
        expect_symbol(")");
    expect_symbol(")");
    using_gsi();
    return made;
}

}  // namespace holdfast::lab::couchbase::n1ql
