#include "lab/couchbase/n1ql/statement_parser.hpp"

#include <utility>

namespace holdfast::lab::couchbase::n1ql {

insert_statement statement_parser::insert(bool replaces)
{
    insert_statement made;
    made.replaces = replaces;
    expect("INTO");
    made.into = keyspace();
    made.alias = optional_alias();
    if (made.alias.empty())
        made.alias = made.into.parts.back();
    if (accept_symbol("(")) {
        accept("PRIMARY");
        expect("KEY");
        expect_symbol(",");
        expect("VALUE");
        if (accept_symbol(","))
            expect("OPTIONS");
        expect_symbol(")");
    }
    if (is("SELECT"))
        fail("INSERT with SELECT is not supported");
    expect("VALUES");
    do {
        accept("VALUES");
        made.rows.push_back(insert_row());
    } while (accept_symbol(","));
    made.gives = returned();
    return made;
}

insert_statement::row statement_parser::insert_row()
{
    insert_statement::row made;
    expect_symbol("(");
    made.key = any_expression();
    expect_symbol(",");
    made.content = any_expression();
    if (accept_symbol(","))
        made.options = any_expression();
    expect_symbol(")");
    return made;
}

source statement_parser::changed_keyspace()
{
    source made;
    made.keyspace = keyspace();
    made.alias = optional_alias();
    if (made.alias.empty())
        made.alias = made.keyspace->parts.back();
    use_keys(made);
    return made;
}

update_statement statement_parser::update()
{
    update_statement made;
    made.what = changed_keyspace();
    if (!is("SET") && !is("UNSET"))
        fail();
    if (accept("SET")) {
        do {
            made.changes.push_back(one_assignment(made.what.alias, false));
        } while (accept_symbol(","));
    }
    if (accept("UNSET")) {
        do {
            made.changes.push_back(one_assignment(made.what.alias, true));
        } while (accept_symbol(","));
    }
    if (accept("WHERE"))
        made.where = any_expression();
    if (accept("LIMIT"))
        made.limit = any_expression();
    made.gives = returned();
    return made;
}

assignment statement_parser::one_assignment(const std::string& alias, bool removes)
{
    assignment made;
    if (is("META") && ahead().text == "(") {
        take();
        take();
        if (is_name())
            take();
        expect_symbol(")");
        expect_symbol(".");
        expect("EXPIRATION");  // servers let nothing else be set
        made.expiration = true;
    } else {
        std::string root = expect_name();
        made.steps = path_steps();
        if (root != alias || made.steps.empty())
            made.steps.insert(made.steps.begin(), path_step{std::move(root), nullptr});
    }
    if (removes)
        return made;
    expect_symbol("=");
    made.to = any_expression();
    return made;
}

delete_statement statement_parser::remove()
{
    delete_statement made;
    expect("FROM");
    made.what = changed_keyspace();
    if (accept("WHERE"))
        made.where = any_expression();
    if (accept("LIMIT"))
        made.limit = any_expression();
    made.gives = returned();
    return made;
}

}  // namespace holdfast::lab::couchbase::n1ql
