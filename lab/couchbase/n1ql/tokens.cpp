#include "lab/couchbase/n1ql/tokens.hpp"

#include "holdfast/bson/validate.hpp"
#include "lab/couchbase/n1ql/query_error.hpp"
#include "lab/couchbase/n1ql/value.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace holdfast::lab::couchbase::n1ql {

namespace {

constexpr std::size_t longest_excerpt = 20;

bool is_letter(char c) noexcept
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_digit(char c) noexcept
{
    return c >= '0' && c <= '9';
}

bool is_name_part(char c) noexcept
{
    return is_letter(c) || is_digit(c) || c == '$';
}

char capital(char c) noexcept
{
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

class scanner {
public:
    explicit scanner(std::string_view statement) noexcept : all_{statement} {}

    result<token> next();

private:
    char at(std::size_t place) const noexcept { return place < all_.size() ? all_[place] : '\0'; }
    bool skip_blanks();
    token made(token_kind kind, std::string_view content) const
    {
        return {kind, std::string{content}, begin_, at_};
    }
    error refused(std::string_view problem) const
    {
        return syntax_error(
            all_, {token_kind::symbol, std::string{all_.substr(begin_, 1)}, begin_, begin_ + 1},
            problem);
    }
    result<token> quoted(char quote);
    result<token> number();
    token name();
    result<token> parameter();
    token symbol();

    std::string_view all_;
    std::size_t at_ = 0;
    std::size_t begin_ = 0;
    std::size_t questions_ = 0;
};

/// Blanks and comments; false if a comment has no end.
bool scanner::skip_blanks()
{
    for (;;) {
        at_ = std::min(all_.find_first_not_of(" \t\r\n\f\v", at_), all_.size());
        begin_ = at_;
        if (all_.substr(at_, 2) == "--") {
            at_ = std::min(all_.find('\n', at_), all_.size());
        } else if (all_.substr(at_, 2) == "/*") {
            const std::size_t end = all_.find("*/", at_ + 2);
            if (end == all_.npos)
                return false;
            at_ = end + 2;
        } else {
            return true;
        }
    }
}

/// A string, whose escapes are those of JSON, or a name in back-ticks. A doubled quote is one.
result<token> scanner::quoted(char quote)
{
    std::string content;
    for (++at_;; ++at_) {
        if (at_ >= all_.size())
            return refused("a quote has no end");
        const char c = all_[at_];
        if (c == quote && at(at_ + 1) != quote)
            break;
        if (c == quote) {
            ++at_;
        } else if (c == '\\' && quote != '`') {
            if (++at_ >= all_.size())
                return refused("a quote has no end");
            if (all_[at_] == '\'')
                content += '\'';
            else
                (content += '\\') += all_[at_];
            continue;
        }
        if (quote != '`' && (c == '"' || static_cast<unsigned char>(c) < 0x20)) {
            // What JSON wants escaped.
            constexpr std::string_view hex = "0123456789abcdef";
            content += c == '"' ? "\\\"" : "\\u00";
            if (c != '"')
                (content += hex[static_cast<unsigned char>(c) >> 4]) += hex[c & 0xf];
            continue;
        }
        content += c;
    }
    ++at_;
    if (quote == '`') {
        if (content.empty())
            return refused("a name is empty");
        return made(token_kind::quoted_name, content);
    }
    const value read = read_json('"' + content + '"');
    if (!string_in(read))
        return refused("a string has a wrong escape, or is not UTF-8");
    return made(token_kind::string, view(*string_in(read)));
}

result<token> scanner::number()
{
    const auto skip_digits = [&] {
        while (is_digit(at(at_)))
            ++at_;
    };
    skip_digits();
    if (at(at_) == '.' && is_digit(at(at_ + 1))) {
        ++at_;
        skip_digits();
    }
    if (at(at_) == 'e' || at(at_) == 'E') {
        std::size_t exponent = at_ + 1;
        if (at(exponent) == '+' || at(exponent) == '-')
            ++exponent;
        if (is_digit(at(exponent))) {
            at_ = exponent;
            skip_digits();
        }
    }
    if (is_name_part(at(at_)))
        return refused("a number is followed by a letter");
    return made(token_kind::number, all_.substr(begin_, at_ - begin_));
}

token scanner::name()
{
    while (is_name_part(at(at_)))
        ++at_;
    return made(token_kind::name, all_.substr(begin_, at_ - begin_));
}

result<token> scanner::parameter()
{
    if (all_[at_++] == '?')
        return made(token_kind::parameter, std::to_string(++questions_));
    while (is_name_part(at(at_)))
        ++at_;
    if (at_ == begin_ + 1)
        return refused("a parameter has no name");
    return made(token_kind::parameter, all_.substr(begin_ + 1, at_ - begin_ - 1));
}

token scanner::symbol()
{
    for (const std::string_view two : {"<=", ">=", "<>", "!=", "==", "||"}) {
        if (all_.substr(at_, 2) == two) {
            at_ += 2;
            return made(token_kind::symbol, two);
        }
    }
    ++at_;
    return made(token_kind::symbol, all_.substr(begin_, 1));
}

result<token> scanner::next()
{
    if (!skip_blanks())
        return refused("a comment has no end");
    if (at_ == all_.size())
        return made(token_kind::end, {});
    const char c = all_[at_];
    if (c == '"' || c == '\'' || c == '`')
        return quoted(c);
    if (is_digit(c) || (c == '.' && is_digit(at(at_ + 1)))) {
        return number();
    }
    if (is_letter(c))
        return name();
    if (c == '$' || c == '?')
        return parameter();
    if (std::string_view{"()[]{},.:;*+-/%=<>!|"}.find(c) == std::string_view::npos)
        return refused("this character begins nothing");
    return symbol();
}

bool is_inside_character(char c) noexcept
{
    return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

std::string_view first_part(std::string_view of) noexcept
{
    std::size_t size = std::min(longest_excerpt, of.size());
    while (size != 0 && size != of.size() && is_inside_character(of[size]))
        --size;
    return of.substr(0, size);
}

std::string_view last_part(std::string_view of) noexcept
{
    of = of.substr(of.size() - std::min(longest_excerpt, of.size()));
    while (!of.empty() && is_inside_character(of.front()))
        of.remove_prefix(1);
    return of;
}

constexpr std::string_view reserved[] = {
    "ALL",       "AND",    "AS",      "ASC",       "BETWEEN", "BUILD",   "BY",      "CASE",
    "CREATE",    "DELETE", "DESC",    "DISTINCT",  "DROP",    "ELSE",    "END",     "EXCEPT",
    "EXECUTE",   "EXISTS", "EXPLAIN", "FALSE",     "FROM",    "GROUP",   "HAVING",  "IN",
    "INDEX",     "INNER",  "INSERT",  "INTERSECT", "INTO",    "IS",      "JOIN",    "LEFT",
    "LET",       "LIKE",   "LIMIT",   "MERGE",     "MISSING", "NEST",    "NOT",     "NULL",
    "OFFSET",    "ON",     "OR",      "ORDER",     "OUTER",   "PREPARE", "PRIMARY", "RAW",
    "RETURNING", "RIGHT",  "SELECT",  "SET",       "TRUE",    "UNION",   "UNNEST",  "UNSET",
    "UPDATE",    "UPSERT", "USE",     "USING",     "VALUES",  "VALUED",  "WHERE",   "WITH",
};

}  // namespace

bool is_keyword(const token& of, std::string_view keyword) noexcept
{
    return of.kind == token_kind::name && std::ranges::equal(of.text, keyword, {}, capital);
}

bool is_reserved(const token& of) noexcept
{
    return std::ranges::any_of(reserved, [&](std::string_view one) { return is_keyword(of, one); });
}

error syntax_error(std::string_view statement, const token& at, std::string_view problem)
{
    const std::string_view before = statement.substr(0, at.begin);
    const auto lines = std::ranges::count(before, '\n') + 1;
    const std::size_t line_begin = before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1;
    std::string message = "syntax error - line " + std::to_string(lines) + ", column " +
                          std::to_string(at.begin - line_begin + 1) + ", near '" +
                          std::string{last_part(before)} + "', at: ";
    message += at.kind == token_kind::end ? "end of input" : first_part(at.text);
    if (!problem.empty())
        (message += " - ") += problem;
    return refuse(query_code::syntax, std::move(message));
}

result<std::vector<token>> read_tokens(std::string_view statement)
{
    if (statement.size() > longest_statement)
        return refuse(query_code::syntax, "syntax error - the statement is longer than 1 MB");
    if (!bson::is_utf8(statement))
        return refuse(query_code::syntax, "syntax error - the statement is not UTF-8");
    std::vector<token> all;
    scanner from{statement};
    for (;;) {
        auto one = from.next();
        if (!one)
            return std::move(one).error();
        if (all.size() == most_tokens)
            return syntax_error(statement, *one, "the statement is too long");
        all.push_back(*std::move(one));
        if (all.back().kind == token_kind::end)
            return all;
    }
}

}  // namespace holdfast::lab::couchbase::n1ql
