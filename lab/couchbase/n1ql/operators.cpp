#include "lab/couchbase/n1ql/operators.hpp"

#include <cmath>

namespace holdfast::lab::couchbase::n1ql {

namespace {

/// Whole numbers stay whole as long as they fit.
std::optional<std::int64_t> whole_result(char op, std::int64_t left, std::int64_t right)
{
    std::int64_t made = 0;
    bool wrong = false;
    switch (op) {
    case '+': wrong = __builtin_add_overflow(left, right, &made); break;
    case '-': wrong = __builtin_sub_overflow(left, right, &made); break;
    case '*': wrong = __builtin_mul_overflow(left, right, &made); break;
    case '%':
        wrong = right == 0 || right == -1;
        made = wrong ? 0 : left % right;
        break;
    default: wrong = true;
    }
    return wrong ? std::nullopt : std::optional{made};
}

std::size_t character_size(std::string_view at)
{
    std::size_t size = 1;
    while (size < at.size() && (static_cast<unsigned char>(at[size]) & 0xc0) == 0x80)
        ++size;
    return size;
}

}  // namespace

value null_result()
{
    return json::value(nullptr);
}

std::optional<value> absence(const value& left, const value& right)
{
    if (!left || !right)
        return value{};
    if (left->is_null() || right->is_null())
        return null_result();
    return std::nullopt;
}

value arithmetic_result(char op, const value& left, const value& right)
{
    if (!left || !right)
        return {};
    const auto a = number_in(left);
    const auto b = number_in(right);
    if (!a || !b)
        return null_result();
    if (left->is_int64() && right->is_int64()) {
        if (const auto whole = whole_result(op, left->get_int64(), right->get_int64()))
            return *whole;
    }
    switch (op) {
    case '+': return number(*a + *b);
    case '-': return number(*a - *b);
    case '*': return number(*a * *b);
    case '/': return *b == 0 ? null_result() : value{number(*a / *b)};
    case '%': return *b == 0 ? null_result() : value{number(std::fmod(*a, *b))};
    default: return null_result();
    }
}

void join(value& to, const value& more)
{
    if (!to || !more) {
        to.reset();
        return;
    }
    const json::string* const added = string_in(more);
    if (added && to->is_string())
        to->get_string().append(*added);
    else
        to = null_result();
}

value relation_result(relation op, const value& left, const value& right)
{
    if (auto absent = absence(left, right))
        return *std::move(absent);
    const int order = compare(*left, *right);
    switch (op) {
    case relation::equal: return order == 0;
    case relation::not_equal: return order != 0;
    case relation::less: return order < 0;
    case relation::less_equal: return order <= 0;
    case relation::greater: return order > 0;
    case relation::greater_equal: return order >= 0;
    }
    return null_result();
}

value negated_if(bool negated, value of)
{
    if (!negated || is_null_or_missing(of))
        return of;
    return !is_true(of);
}

value is_element(const value& of, const value& list)
{
    if (!of || !list)
        return {};
    const json::array* const all = list->if_array();
    if (!all)
        return null_result();
    bool met_null = of->is_null();
    for (const json::value& one : *all) {
        if (one.is_null())
            met_null = true;
        else if (!of->is_null() && compare(*of, one) == 0)
            return true;
    }
    return met_null ? null_result() : value{false};
}

/// Goes back to the last % alone, which is enough: what an earlier one could match, that one can.
bool is_like(std::string_view text, std::string_view pattern)
{
    std::size_t at = 0;
    std::size_t of = 0;
    std::size_t behind_last = std::string_view::npos;  // the last % in the pattern
    std::size_t tried = 0;                             // and where in the text it was tried
    while (at < text.size()) {
        if (of < pattern.size() && pattern[of] == '%') {
            behind_last = ++of;
            tried = at;
            continue;
        }
        if (of < pattern.size() && pattern[of] == '_') {
            at += character_size(text.substr(at));
            ++of;
            continue;
        }
        const bool escaped = of + 1 < pattern.size() && pattern[of] == '\\';
        if (of < pattern.size() && pattern[of + (escaped ? 1 : 0)] == text[at]) {
            ++at;
            of += escaped ? 2 : 1;
            continue;
        }
        if (behind_last == std::string_view::npos)
            return false;
        of = behind_last;
        tried += character_size(text.substr(tried));
        at = tried;
    }
    while (of < pattern.size() && pattern[of] == '%')
        ++of;
    return of == pattern.size();
}

}  // namespace holdfast::lab::couchbase::n1ql
