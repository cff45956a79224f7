#include "lab/couchbase/n1ql/parser.hpp"
#include "lab/couchbase/n1ql/query_error.hpp"
#include "lab/couchbase/n1ql/statement_parser.hpp"

#include <utility>

namespace holdfast::lab::couchbase::n1ql {

bool statement::only_reads() const noexcept
{
    return std::holds_alternative<select_statement>(is) ||
           std::holds_alternative<explain_statement>(is) ||
           std::holds_alternative<prepare_statement>(is) ||
           std::holds_alternative<execute_statement>(is);
}

statement_ptr statement_parser::whole()
{
    auto made = std::make_shared<statement>(any_statement());
    accept_symbol(";");
    if (!is_at_end())
        fail();
    made->parameters = parameters();
    if (made->text.empty())
        made->text = text_between(0, text().size());
    return made;
}

keyspace_name statement_parser::context()
{
    keyspace_name made = keyspace();
    if (!is_at_end())
        fail();
    return made;
}

statement statement_parser::any_statement()
{
    if (dialect_ == dialect::analytics && begins_dataset())
        return {dataset()};
    if (is("SELECT"))
        return {select()};
    if (accept("INSERT"))
        return {insert(false)};
    if (accept("UPSERT"))
        return {insert(true)};
    if (accept("UPDATE"))
        return {update()};
    if (accept("DELETE"))
        return {remove()};
    if (accept("CREATE"))
        return {create_index()};
    if (accept("DROP"))
        return {drop_index()};
    if (accept("BUILD"))
        return {build_index()};
    if (accept("PREPARE")) {
        statement made{prepare()};
        made.text = std::get_if<prepare_statement>(&made.is)->of->text;
        return made;
    }
    if (accept("EXPLAIN")) {
        statement made{explain_statement{rest()}};
        made.text = std::get_if<explain_statement>(&made.is)->of->text;
        return made;
    }
    if (accept("EXECUTE"))
        return {execute()};
    fail();
    return {};
}

/// What follows PREPARE or EXPLAIN: neither of these again.
statement_ptr statement_parser::rest()
{
    const std::size_t begin = here().begin;
    if (is("PREPARE") || is("EXPLAIN") || is("EXECUTE"))
        fail();
    auto made = std::make_shared<statement>(any_statement());
    made->text = text_between(begin, is_at_end() ? text().size() : here().begin);
    made->parameters = parameters();
    return made;
}

prepare_statement statement_parser::prepare()
{
    prepare_statement made;
    accept("FORCE");
    const bool named = is_keyword(ahead(), "FROM") || is_keyword(ahead(), "AS");
    if (named && (is_name() || here().kind == token_kind::string)) {
        made.name = take().text;
        take();
    }
    made.of = rest();
    return made;
}

execute_statement statement_parser::execute()
{
    execute_statement made;
    if (here().kind == token_kind::string)
        made.name = take().text;
    else
        made.name = expect_name();
    if (accept("USING"))
        made.arguments = any_expression();
    return made;
}

result<statement_ptr> parse(std::string_view text, dialect in)
{
    auto tokens = read_tokens(text);
    if (!tokens)
        return std::move(tokens).error();
    statement_parser reader{text, *std::move(tokens), in};
    statement_ptr made = reader.whole();
    if (reader.failed())
        return error{*reader.failed()};
    return made;
}

result<keyspace_name> parse_context(std::string_view text)
{
    auto tokens = read_tokens(text);
    if (!tokens)
        return std::move(tokens).error();
    statement_parser reader{text, *std::move(tokens), dialect::query};
    keyspace_name made = reader.context();
    if (reader.failed())
        return error{*reader.failed()};
    return made;
}

}  // namespace holdfast::lab::couchbase::n1ql
