#include "lab/couchbase/fts/search_query.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace holdfast::lab::couchbase {

namespace {

/// Takes clauses off the front of a query string.
class string_reader {
public:
    explicit string_reader(std::string_view text) : rest_{text} {}

    result<search_query> read();

private:
    struct clause {
        char sign = ' ';  // '+', '-' or neither
        search_query query = {};
    };

    void skip_spaces()
    {
        rest_.remove_prefix(std::min(rest_.find_first_not_of(" "), rest_.size()));
    }
    std::optional<clause> next();
    /// Up to a space, or to the end of a quoted text.
    std::string next_text(bool& quoted);
    static search_query query_of(std::string text, bool quoted);

    std::string_view rest_;
};

std::string string_reader::next_text(bool& quoted)
{
    quoted = rest_.starts_with('"');
    if (quoted)
        rest_.remove_prefix(1);
    std::string text;
    while (!rest_.empty() && rest_.front() != (quoted ? '"' : ' ')) {
        if (rest_.front() == '\\' && rest_.size() > 1)
            rest_.remove_prefix(1);
        else if (!quoted && rest_.front() == ':')
            break;
        text += rest_.front();
        rest_.remove_prefix(1);
    }
    if (quoted && !rest_.empty())
        rest_.remove_prefix(1);
    return text;
}

/// ">=3" and the like are ranges of numbers; "ab*" is a pattern.
search_query string_reader::query_of(std::string text, bool quoted)
{
    search_query made;
    if (!quoted && (text.starts_with('<') || text.starts_with('>'))) {
        const bool inclusive = text.size() > 1 && text[1] == '=';
        double limit = 0;
        const char* const end = text.data() + text.size();
        const auto [last, why] = std::from_chars(text.data() + (inclusive ? 2 : 1), end, limit);
        if (why == std::errc{} && last == end) {
            match_number range;
            range.inclusive_min = range.inclusive_max = inclusive;
            (text.front() == '<' ? range.max : range.min) = limit;
            made.what = range;
            return made;
        }
    }
    if (!quoted && text.find_first_of("*?") != text.npos) {
        made.what = match_tokens{match_tokens::kind::wildcard, {std::move(text)}, false};
        return made;
    }
    match_tokens tokens{quoted ? match_tokens::kind::phrase : match_tokens::kind::any, {}, false};
    for (text_token& one : tokens_of(text))
        tokens.tokens.push_back(std::move(one.text));
    made.what = std::move(tokens);
    return made;
}

std::optional<string_reader::clause> string_reader::next()
{
    skip_spaces();
    if (rest_.empty())
        return std::nullopt;
    clause made;
    if (rest_.front() == '+' || rest_.front() == '-') {
        made.sign = rest_.front();
        rest_.remove_prefix(1);
    }
    bool quoted = false;
    std::string text = next_text(quoted);
    std::string field;
    if (rest_.starts_with(':')) {
        rest_.remove_prefix(1);
        field = std::exchange(text, {});
        text = next_text(quoted);
    }
    if (rest_.starts_with(':'))  // there is one colon in a clause
        rest_.remove_prefix(1);
    made.query = query_of(std::move(text), quoted);
    made.query.field = std::move(field);
    if (!rest_.starts_with('^'))
        return made;
    const std::size_t end = std::min(rest_.find(' '), rest_.size());
    (void)std::from_chars(rest_.data() + 1, rest_.data() + end, made.query.boost);
    rest_.remove_prefix(end);
    return made;
}

result<search_query> string_reader::read()
{
    match_group made;
    while (auto one = next()) {
        auto& list = one->sign == '+' ? made.must : one->sign == '-' ? made.must_not : made.should;
        list.push_back(std::move(one->query));
        if (made.must.size() + made.must_not.size() + made.should.size() > most_search_clauses)
            return refused_search("a query string has 200 clauses at most");
    }
    search_query query;
    if (made.must.empty() && made.must_not.empty() && made.should.empty()) {
        query.what = match_none{};
        return query;
    }
    made.least = made.must.empty() && !made.should.empty() ? 1 : 0;
    query.what = std::move(made);
    return query;
}

}  // namespace

result<search_query> read_query_string(std::string_view text)
{
    return string_reader{text}.read();
}

}  // namespace holdfast::lab::couchbase
