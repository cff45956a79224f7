#pragma once
#include "lab/couchbase/n1ql/expression_parser.hpp"
#include "lab/couchbase/n1ql/parser.hpp"
#include "lab/couchbase/n1ql/statement.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab::couchbase::n1ql {

class statement_parser : public expression_parser {
public:
    statement_parser(std::string_view text, std::vector<token> tokens, dialect in) noexcept
        : expression_parser{text, std::move(tokens)}, dialect_{in}
    {
    }

    /// Up to the end of the input, with a semicolon or without.
    statement_ptr whole();
    keyspace_name context();

private:
    // parse.cpp
    statement any_statement();
    prepare_statement prepare();
    execute_statement execute();
    statement_ptr rest();

    // parse_select.cpp
    select_statement select();
    void select_order(select_statement& made);
    bool accept_raw();
    std::vector<projection> projections(bool raw);
    projection one_projection(bool raw);
    source from();
    void use_keys(source& made);
    std::string optional_alias();
    keyspace_name keyspace();
    returning returned();

    // parse_change.cpp
    insert_statement insert(bool replaces);
    insert_statement::row insert_row();
    source changed_keyspace();
    update_statement update();
    assignment one_assignment(const std::string& alias, bool removes);
    delete_statement remove();

    // parse_index.cpp
    create_index_statement create_index();
    std::string index_key();
    drop_index_statement drop_index();
    build_index_statement build_index();
    void using_gsi();
    bool accept_if(std::string_view first, std::string_view second = {});

    // parse_dataset.cpp
    bool begins_dataset() const noexcept;
    dataset_statement dataset();
    dataset_statement altered_collection();
    void read_dataset(dataset_statement& made);

    dialect dialect_;
};

}  // namespace holdfast::lab::couchbase::n1ql
