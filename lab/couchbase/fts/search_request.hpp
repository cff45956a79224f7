#pragma once
#include "holdfast/error.hpp"
#include "lab/couchbase/fts/search_query.hpp"

#include <boost/json/value.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::lab::couchbase {

struct search_sort {
    enum class key : std::uint8_t { score, id, field };

    key by = key::score;
    std::string field = {};
    bool descending = false;
};

/// Counts documents by the tokens of a field, or by ranges.
struct search_facet {
    struct number_range {
        std::string name = {};
        std::optional<double> min = {};
        std::optional<double> max = {};
    };
    struct date_range {
        std::string name = {};
        std::optional<std::string> start = {};
        std::optional<std::string> end = {};
    };

    std::string name = {};
    std::string field = {};
    std::size_t size = 10;
    std::vector<number_range> numbers = {};
    std::vector<date_range> dates = {};
};

/// The documents whose vector is nearest.
struct vector_search {
    std::string field = {};
    std::vector<double> vector = {};
    std::size_t count = 10;
    double boost = 1;
};

struct search_highlight {
    bool ansi = false;
    std::vector<std::string> fields = {};  // empty: all
};

/// A position that an index is to have before it answers.
struct wanted_position {
    std::uint16_t vbucket = 0;
    std::uint64_t uuid = 0;
    std::uint64_t seqno = 0;
};

struct search_request {
    search_query query = {};
    std::vector<vector_search> vectors = {};
    bool must_have_both = false;  // the query and the vectors
    std::size_t size = 10;
    std::size_t from = 0;
    std::vector<search_sort> sort = {{search_sort::key::score, {}, true}};
    std::vector<search_facet> facets = {};
    std::vector<std::string> fields = {};  // "*": all
    std::vector<std::string> collections = {};  // empty: all of the index
    bool scored = true;
    bool explained = false;
    bool with_locations = false;
    bool shows_request = true;
    std::optional<search_highlight> highlight = {};
    std::chrono::milliseconds timeout{10'000};
    std::map<std::string, std::vector<wanted_position>, std::less<>> consistency = {};  // by index
};

/// The body of a search. Errors name the member that is wrong.
result<search_request> read_search_request(const boost::json::value& body);

}  // namespace holdfast::lab::couchbase
