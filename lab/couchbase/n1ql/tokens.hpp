#pragma once
#include "holdfast/error.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab::couchbase::n1ql {

enum class token_kind : std::uint8_t {
    end,
    name,         // a keyword too
    quoted_name,  // in back-ticks
    string,
    number,
    parameter,  // $name and $1, without the dollar; for a question mark its place, counted from 1
    symbol,
};

struct token {
    token_kind kind = token_kind::end;
    std::string text = {};  // without quotes and escapes
    std::size_t begin = 0;  // in the statement
    std::size_t end = 0;
};

inline constexpr std::size_t longest_statement = std::size_t{1024} * 1024;
inline constexpr std::size_t most_tokens = 200'000;

/// The last one is token_kind::end. Errors are query_code::syntax.
result<std::vector<token>> read_tokens(std::string_view statement);

/// "syntax error - line 1, column 8, near 'SELECT ', at: FROM"
error syntax_error(std::string_view statement, const token& at, std::string_view problem = {});

/// Compares a name with one in capitals, whatever its case.
bool is_keyword(const token& of, std::string_view keyword) noexcept;
/// Names that have to be in back-ticks to be names of fields and keyspaces.
bool is_reserved(const token& of) noexcept;

}  // namespace holdfast::lab::couchbase::n1ql
