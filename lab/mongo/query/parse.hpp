#pragma once
#include "holdfast/error.hpp"
#include "lab/mongo/document/collation.hpp"
#include "lab/mongo/expression/context.hpp"
#include "lab/mongo/query/node.hpp"

#include <cstddef>
#include <optional>
#include <string_view>

namespace holdfast::lab::filter {

/// From a filter's bytes to its conditions. The nodes point into what was read.
class parser {
public:
    parser(const std::optional<collation>& by, const expression_context& context) noexcept
        : by_{by}, context_{context}
    {
    }

    /// A whole filter: conditions on fields, $and, $expr and so on.
    result<node> filter(bson::view from, int depth = 0);

    std::size_t sleeps_ms() const noexcept { return sleeps_ms_; }

    /// An operator at a field, {$gt: 1}; `all` is the document that it stands in.
    result<node> operation(std::string_view path, const bson::element& e, bson::view all,
                           int depth);

private:
    result<node> top_level(const bson::element& e, int depth);
    result<node> list_of_filters(const bson::element& e, int depth);
    result<node> expression(const bson::element& e, int depth) const;
    result<node> where(const bson::element& e);
    result<node> field(const bson::element& e, int depth);
    result<node> operations(std::string_view path, bson::view from, int depth);
    result<node> comparison(op what, std::string_view path, const bson::element& e) const;
    result<node> in(std::string_view path, const bson::element& e) const;
    result<node> all(std::string_view path, const bson::element& e, int depth);
    result<node> negation(std::string_view path, const bson::element& e, int depth);
    result<node> element_match(std::string_view path, const bson::element& e, int depth);

    const std::optional<collation>& by_;
    const expression_context& context_;
    std::size_t sleeps_ms_ = 0;
    bool inside_element_ = false;  // of $elemMatch
};

/// Deeper filters are refused.
inline constexpr int deepest_filter = 100;
error too_deep();
error malformed_filter();

/// Whether a value is {$gt: ...} and the like; {$ref: ...} is a value.
bool is_operations(const bson::element& e) noexcept;

/// Operators whose operand needs reading; an error says what is wrong with it.
result<node> parse_modulo(std::string_view path, const bson::element& e);
result<node> parse_size(std::string_view path, const bson::element& e);
result<node> parse_type(std::string_view path, const bson::element& e);
result<node> parse_bits(std::string_view path, const bson::element& e, bool set, bool all);
result<node> parse_regex(std::string_view path, const bson::element& pattern,
                         const bson::element& options);
result<node> parse_regex(std::string_view path, const bson::regex& from);

}  // namespace holdfast::lab::filter
