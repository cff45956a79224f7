#pragma once
#include "holdfast/error.hpp"
#include "lab/couchbase/fts/searched_document.hpp"

#include <boost/json/value.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// The queries of full-text search, on one document at a time.
namespace holdfast::lab::couchbase {

struct search_query;

struct match_all {};
struct match_none {};
struct match_ids {
    std::set<std::string, std::less<>> ids = {};
};
/// Tokens of strings.
struct match_tokens {
    enum class kind : std::uint8_t { any, all, phrase, prefix, wildcard };

    kind what = kind::any;
    std::vector<std::string> tokens = {};  // in lower case, or as they are for a term
    bool whole_value = false;  // a string that equals the first token fits, too
};
struct match_number {
    std::optional<double> min = {};
    std::optional<double> max = {};
    bool inclusive_min = true;
    bool inclusive_max = false;
};
/// Strings by their bytes: terms, and dates as ISO 8601 has them.
struct match_text_range {
    std::optional<std::string> min = {};
    std::optional<std::string> max = {};
    bool inclusive_min = true;
    bool inclusive_max = false;
};
struct match_bool {
    bool value = false;
};
/// All of `must`, none of `must_not`, and at least so many of `should`.
struct match_group {
    std::vector<search_query> must = {};
    std::vector<search_query> should = {};
    std::vector<search_query> must_not = {};
    std::size_t least = 0;
};

struct search_query {
    std::variant<match_all, match_none, match_ids, match_tokens, match_number, match_text_range,
                 match_bool, match_group>
        what = match_all{};
    std::string field = {};  // empty: any
    double boost = 1;
};

/// Where a token was found: a place in a leaf of the document.
struct token_hit {
    const field_leaf* leaf = nullptr;
    const text_token* token = nullptr;
};

struct match_outcome {
    double score = 0;
    std::vector<token_hit> tokens = {};
};

inline constexpr std::size_t most_search_clauses = 200;

/// Errors name what is not understood.
result<search_query> read_search_query(const boost::json::value& from);
/// The language of {"query": "name:foo +bar -\"two words\""}.
result<search_query> read_query_string(std::string_view text);

/// Nothing if the document does not match.
std::optional<match_outcome> match_document(const search_query& query, const searched_document& in);

error refused_search(std::string reason);

}  // namespace holdfast::lab::couchbase
