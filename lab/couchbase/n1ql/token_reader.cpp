#include "lab/couchbase/n1ql/token_reader.hpp"

#include <algorithm>

namespace holdfast::lab::couchbase::n1ql {

const token& token_reader::ahead(std::size_t count) const noexcept
{
    return tokens_[std::min(at_ + count, tokens_.size() - 1)];
}

bool token_reader::is_symbol(std::string_view symbol) const noexcept
{
    return here().kind == token_kind::symbol && here().text == symbol;
}

bool token_reader::is_name() const noexcept
{
    return here().kind == token_kind::quoted_name ||
           (here().kind == token_kind::name && !is_reserved(here()));
}

token token_reader::take()
{
    const token& given = here();
    at_ = std::min(at_ + 1, tokens_.size() - 1);
    return given;
}

bool token_reader::accept_symbol(std::string_view symbol)
{
    if (!is_symbol(symbol))
        return false;
    take();
    return true;
}

bool token_reader::accept(std::string_view keyword)
{
    if (!is(keyword))
        return false;
    take();
    return true;
}

bool token_reader::accept_both(std::string_view first, std::string_view second)
{
    if (!is(first) || !is_keyword(ahead(), second))
        return false;
    take();
    take();
    return true;
}

void token_reader::expect_symbol(std::string_view symbol)
{
    if (!accept_symbol(symbol))
        fail();
}

void token_reader::expect(std::string_view keyword)
{
    if (!accept(keyword))
        fail();
}

std::string token_reader::expect_name()
{
    if (is_name())
        return take().text;
    fail();
    return {};
}

std::vector<std::string> token_reader::expect_dotted_names()
{
    std::vector<std::string> names{expect_name()};
    while (accept_symbol("."))
        names.push_back(expect_name());
    return names;
}

void token_reader::fail(std::string_view problem)
{
    if (!failed_)
        failed_ = syntax_error(text_, here(), problem);
    at_ = tokens_.size() - 1;
}

std::string_view token_reader::text_between(std::size_t begin, std::size_t end) const noexcept
{
    std::string_view part = text_.substr(begin, end - begin);
    part.remove_prefix(std::min(part.find_first_not_of(" \t\r\n"), part.size()));
    return part.substr(0, part.find_last_not_of(" \t\r\n") + 1);
}

}  // namespace holdfast::lab::couchbase::n1ql
