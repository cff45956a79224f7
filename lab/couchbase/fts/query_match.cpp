#include "lab/couchbase/fts/search_query.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace holdfast::lab::couchbase {

namespace json = boost::json;

namespace {

std::string_view text_of(const field_leaf& leaf)
{
    const json::string* const text = leaf.value->if_string();
    return text ? std::string_view{text->data(), text->size()} : std::string_view{};
}

/// '*' is any number of bytes, '?' one. Takes at most text times pattern steps.
bool fits_pattern(std::string_view text, std::string_view pattern)
{
    std::size_t at = 0;
    std::size_t in = 0;
    std::size_t star = pattern.npos;
    std::size_t retry = 0;
    while (at < text.size()) {
        if (in < pattern.size() && (pattern[in] == '?' || pattern[in] == text[at])) {
            ++at;
            ++in;
        } else if (in < pattern.size() && pattern[in] == '*') {
            star = in++;
            retry = at;
        } else if (star != pattern.npos) {
            in = star + 1;
            at = ++retry;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', in) == pattern.npos;
}

bool fits_token(const match_tokens& query, const std::string& wanted, const std::string& token)
{
    switch (query.what) {
    case match_tokens::kind::any:
    case match_tokens::kind::all:
    case match_tokens::kind::phrase:
        return token == wanted;
    case match_tokens::kind::prefix:
        return token.starts_with(wanted);
    case match_tokens::kind::wildcard:
        return fits_pattern(token, wanted);
    }
    return false;
}

/// One query on one document.
class matcher {
public:
    matcher(const search_query& query, const searched_document& in) : query_{query}, in_{in} {}

    std::optional<match_outcome> run() { return std::visit(*this, query_.what); }

    std::optional<match_outcome> operator()(const match_all&) const { return plain(true); }
    std::optional<match_outcome> operator()(const match_none&) const { return plain(false); }
    std::optional<match_outcome> operator()(const match_ids& of) const
    {
        return plain(of.ids.contains(in_.id()));
    }
    std::optional<match_outcome> operator()(const match_tokens& of) const;
    std::optional<match_outcome> operator()(const match_number& of) const;
    std::optional<match_outcome> operator()(const match_text_range& of) const;
    std::optional<match_outcome> operator()(const match_bool& of) const;
    std::optional<match_outcome> operator()(const match_group& of) const;

private:
    std::optional<match_outcome> plain(bool matches) const
    {
        return matches ? std::optional{match_outcome{query_.boost, {}}} : std::nullopt;
    }
    bool is_searched(const field_leaf& leaf) const
    {
        return query_.field.empty() || query_.field == leaf.field;
    }
    template <class Fits>
    std::optional<match_outcome> any_leaf(Fits fits) const
    {
        return plain(std::ranges::any_of(
            in_.leaves(), [&](const field_leaf& one) { return is_searched(one) && fits(one); }));
    }
    std::vector<token_hit> phrase_in(const field_leaf& leaf, const match_tokens& of) const;

    const search_query& query_;
    const searched_document& in_;
};

std::vector<token_hit> matcher::phrase_in(const field_leaf& leaf, const match_tokens& of) const
{
    std::vector<token_hit> found;
    const std::size_t length = of.tokens.size();
    for (std::size_t at = 0; length != 0 && at + length <= leaf.tokens.size(); ++at) {
        const auto begin = leaf.tokens.begin() + static_cast<std::ptrdiff_t>(at);
        if (!std::equal(of.tokens.begin(), of.tokens.end(), begin,
                        [](const std::string& a, const text_token& b) { return a == b.text; }))
            continue;
        for (std::size_t n = 0; n != length; ++n)
            found.push_back({&leaf, &leaf.tokens[at + n]});
    }
    return found;
}

/// The score grows with the tokens that fit, and falls with the length of the fields.
std::optional<match_outcome> matcher::operator()(const match_tokens& of) const
{
    match_outcome made;
    std::vector<bool> found(of.tokens.size(), false);
    bool whole = false;
    for (const field_leaf& leaf : in_.leaves()) {
        if (!is_searched(leaf) || !leaf.value->is_string())
            continue;
        std::vector<token_hit> hits;
        if (of.what == match_tokens::kind::phrase) {
            hits = phrase_in(leaf, of);
            if (!hits.empty())
                found.assign(found.size(), true);
        }
        for (const text_token& token : leaf.tokens) {
            for (std::size_t n = 0; of.what != match_tokens::kind::phrase && n != found.size();
                 ++n) {
                if (!fits_token(of, of.tokens[n], token.text))
                    continue;
                found[n] = true;
                hits.push_back({&leaf, &token});
            }
        }
        if (of.whole_value && text_of(leaf) == of.tokens.front()) {
            whole = true;
            made.score += query_.boost;
        }
        if (!hits.empty())
            made.score += query_.boost * static_cast<double>(hits.size()) /
                          std::sqrt(static_cast<double>(leaf.tokens.size()));
        made.tokens.insert(made.tokens.end(), hits.begin(), hits.end());
    }
    const auto count = std::ranges::count(found, true);
    const bool all = static_cast<std::size_t>(count) == found.size() && !found.empty();
    const bool matches = of.what == match_tokens::kind::any ? count != 0 : all;
    return matches || whole ? std::optional{std::move(made)} : std::nullopt;
}

std::optional<match_outcome> matcher::operator()(const match_number& of) const
{
    return any_leaf([&](const field_leaf& leaf) {
        if (!leaf.value->is_number())
            return false;
        const double value = leaf.value->to_number<double>();
        return (!of.min || value > *of.min || (of.inclusive_min && value == *of.min)) &&
               (!of.max || value < *of.max || (of.inclusive_max && value == *of.max));
    });
}

std::optional<match_outcome> matcher::operator()(const match_text_range& of) const
{
    return any_leaf([&](const field_leaf& leaf) {
        if (!leaf.value->is_string())
            return false;
        const std::string_view value = text_of(leaf);
        return (!of.min || value > *of.min || (of.inclusive_min && value == *of.min)) &&
               (!of.max || value < *of.max || (of.inclusive_max && value == *of.max));
    });
}

std::optional<match_outcome> matcher::operator()(const match_bool& of) const
{
    return any_leaf([&](const field_leaf& leaf) {
        return leaf.value->is_bool() && leaf.value->get_bool() == of.value;
    });
}

std::optional<match_outcome> matcher::operator()(const match_group& of) const
{
    match_outcome made;
    const auto add = [&](const match_outcome& one) {
        made.score += query_.boost * one.score;
        made.tokens.insert(made.tokens.end(), one.tokens.begin(), one.tokens.end());
    };
    for (const search_query& one : of.must) {
        const auto outcome = match_document(one, in_);
        if (!outcome)
            return std::nullopt;
        add(*outcome);
    }
    for (const search_query& one : of.must_not) {
        if (match_document(one, in_))
            return std::nullopt;
    }
    std::size_t fitting = 0;
    for (const search_query& one : of.should) {
        if (const auto outcome = match_document(one, in_)) {
            ++fitting;
            add(*outcome);
        }
    }
    const bool says_nothing = of.must.empty() && of.should.empty();
    if (says_nothing)
        made.score = query_.boost;
    return fitting >= of.least ? std::optional{std::move(made)} : std::nullopt;
}

}  // namespace

std::optional<match_outcome> match_document(const search_query& query, const searched_document& in)
{
    return matcher{query, in}.run();
}

}  // namespace holdfast::lab::couchbase
