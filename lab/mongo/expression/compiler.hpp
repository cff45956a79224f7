#pragma once
#include "lab/mongo/expression/node.hpp"
#include "lab/mongo/expression/operators.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab::computing {

/// Turns BSON into nodes. Variables of $let and the like live in slots, numbered by how deep they
/// are; `names` are those in sight, innermost last.
class compiler {
public:
    explicit compiler(const expression_context& context, const collation* by = nullptr)
        : context_{context}, by_{by}
    {
    }

    result<node_ptr> compile(const bson::element& from);

    /// Compiles `body` where the variables `names` are known, in the slots after those of now.
    result<node_ptr> compile_with(std::vector<std::string> names, const bson::element& body);

    /// A call with arguments that are the same for all documents is computed now, as servers do, so
    /// that its error is reported although no document matches.
    result<node_ptr> fold_call(node_ptr call);

    /// Compiles a form that may leave its parts unevaluated: an error in one of them is none yet.
    result<node_ptr> compile_form(const special_form& form, const bson::element& call);

private:
    result<node_ptr> compile_here(const bson::element& from);
    result<node_ptr> compile_path(std::string_view text);
    result<node_ptr> compile_variable(std::string_view name, std::vector<std::string> fields);
    result<node_ptr> compile_object(bson::view from);
    result<node_ptr> compile_array(bson::array_view from);
    result<node_ptr> compile_call(const bson::element& call);
    value fold(const node& constant_parts) const;

    const expression_context& context_;
    const collation* by_;
    std::vector<std::string> names_ = {};
    int depth_ = 0;
    int forms_ = 0;  // around what is being compiled
    std::size_t folding_left_ = 100'000;  // steps; beyond them calls are left to evaluate()
};

node_ptr constant_node(value of);

/// The names between the dots of a path without its "$"; MongoDB's rules for them are checked.
result<std::vector<std::string>> split_path(std::string_view path);
/// 9: what a user may call a variable.
result<void> check_variable_name(std::string_view name, bool may_be_current);

}  // namespace holdfast::lab::computing
