#pragma once
#include "lab/couchbase/n1ql/expression.hpp"
#include "lab/couchbase/n1ql/token_reader.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab::couchbase::n1ql {

/// Reads expressions. One function for each rank of operators, from the weakest to the strongest.
class expression_parser : public token_reader {
public:
    using token_reader::token_reader;

    expression_ptr any_expression();
    std::vector<path_step> path_steps();

    /// While one is set, aggregates may stand in expressions, and are added to it.
    void collect_aggregates(std::vector<const aggregate*>* into) noexcept { aggregates_ = into; }
    std::size_t parameters() const noexcept { return parameters_; }

private:
    expression_ptr conjunction();
    expression_ptr negation();
    expression_ptr relations();
    expression_ptr relation_to(expression_ptr left);
    expression_ptr is_relation(expression_ptr left);
    using operand = expression_ptr (expression_parser::*)();
    expression_ptr chain(std::string_view operators, operand next);
    expression_ptr concatenation() { return chain("|", &expression_parser::sum); }
    expression_ptr sum() { return chain("+-", &expression_parser::product); }
    expression_ptr product() { return chain("*/%", &expression_parser::signed_value); }
    expression_ptr signed_value();
    expression_ptr postfix();
    expression_ptr primary();
    expression_ptr named_value();
    expression_ptr function_call(const std::string& called);
    expression_ptr aggregate_call(aggregate_kind what);
    expression_ptr number_literal();
    expression_ptr parameter_value();
    expression_ptr object();
    std::vector<expression_ptr> list_until(std::string_view closing);
    bool enter();

    std::size_t depth_ = 0;
    std::size_t parameters_ = 0;
    std::vector<const aggregate*>* aggregates_ = nullptr;
};

}  // namespace holdfast::lab::couchbase::n1ql
