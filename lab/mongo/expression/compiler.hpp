#pragma once
#include "lab/mongo/expression/node.hpp"

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
};

node_ptr constant_node(value of);

/// The names between the dots of a path without its "$"; MongoDB's rules for them are checked.
result<std::vector<std::string>> split_path(std::string_view path);
/// 9: what a user may call a variable.
result<void> check_variable_name(std::string_view name, bool may_be_current);

}  // namespace holdfast::lab::computing
