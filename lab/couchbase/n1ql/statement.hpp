#pragma once
#include "lab/couchbase/n1ql/expression.hpp"

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace holdfast::lab::couchbase::n1ql {

/// "default:`travel`.`inventory`.`airline`", or less of it.
struct keyspace_name {
    std::string space = {};  // "default" and "system"; empty: it was left out
    std::vector<std::string> parts = {};
};

struct projection {
    expression_ptr of = {};  // null: all sources
    bool all_fields = false;  // of.*
    std::string alias = {};
};

struct sort_term {
    expression_ptr of;
    bool descending = false;
};

/// Where rows come from: documents of a keyspace, or the elements of a value.
struct source {
    std::optional<keyspace_name> keyspace = {};
    expression_ptr of = {};
    std::string alias = {};
    expression_ptr keys = {};
};

struct select_statement {
    bool distinct = false;
    bool raw = false;
    std::vector<projection> projections = {};
    std::optional<source> from = {};
    expression_ptr where = {};
    std::vector<sort_term> order = {};
    expression_ptr limit = {};
    expression_ptr offset = {};
    std::vector<const aggregate*> aggregates = {};  // in the order of their places
};

struct returning {
    bool raw = false;
    std::vector<projection> projections = {};  // none: nothing is returned
};

struct insert_statement {
    struct row {
        expression_ptr key;
        expression_ptr content;
        expression_ptr options;  // null: none
    };
    bool replaces = false;  // UPSERT
    keyspace_name into = {};
    std::string alias = {};
    std::vector<row> rows = {};
    returning gives = {};
};

/// SET and UNSET of one path.
struct assignment {
    std::vector<path_step> steps;
    expression_ptr to;  // null: it is removed
    bool expiration = false;  // META().expiration
};

struct update_statement {
    source what = {};
    std::vector<assignment> changes = {};
    expression_ptr where = {};
    expression_ptr limit = {};
    returning gives = {};
};

struct delete_statement {
    source what = {};
    expression_ptr where = {};
    expression_ptr limit = {};
    returning gives = {};
};

struct create_index_statement {
    bool primary = false;
    bool if_not_exists = false;
    std::string name = {};
    keyspace_name on = {};
    std::vector<std::string> keys = {};  // as system:indexes shows them
    std::string condition = {};
    expression_ptr with = {};
};

struct drop_index_statement {
    bool primary = false;
    bool if_exists = false;
    std::string name = {};
    keyspace_name on = {};
};

struct build_index_statement {
    keyspace_name on = {};
    std::vector<std::string> names = {};
    std::unique_ptr<select_statement> query = {};  // gives more names
};

struct statement;

struct prepare_statement {
    std::string name = {};  // empty: one is made
    std::shared_ptr<const statement> of = {};
};

struct execute_statement {
    std::string name = {};
    expression_ptr arguments = {};  // of USING
};

struct explain_statement {
    std::shared_ptr<const statement> of = {};
};

/// What SDKs send to the analytics service to prepare it.
struct dataset_statement {
    enum class verb : std::uint8_t {
        create_dataverse,
        drop_dataverse,
        create_dataset,
        drop_dataset,
        create_index,
        drop_index,
        connect_link,
        disconnect_link,
    };
    verb what = verb::create_dataverse;
    std::vector<std::string> name = {};  // parts; of an index with those of its dataset before it
    keyspace_name on = {};  // of a dataset
    bool if_exists = false;
    bool if_not_exists = false;
};

struct statement {
    std::variant<select_statement, insert_statement, update_statement, delete_statement,
                 create_index_statement, drop_index_statement, build_index_statement,
                 prepare_statement, execute_statement, explain_statement, dataset_statement>
        is;
    std::string text = {};  // of a prepared or explained one without what stands before it
    std::size_t parameters = 0;  // the highest place of one

    bool only_reads() const noexcept;
};
using statement_ptr = std::shared_ptr<const statement>;

}  // namespace holdfast::lab::couchbase::n1ql
