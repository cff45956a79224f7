#pragma once
#include "lab/couchbase/fts/search_request.hpp"

#include <boost/json/object.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::lab::couchbase {

/// One search over documents that are given to it one after the other.
class search_run {
public:
    /// The request outlives it. `partition` is what hits have as their index.
    search_run(const search_request& what, std::string partition);

    void add(searched_document one);
    /// Of the reply: hits, total_hits, max_score, facets. Not to be called twice.
    boost::json::object finish();

private:
    struct hit {
        searched_document document;
        std::optional<match_outcome> outcome;  // of the query
        std::vector<std::optional<double>> near;  // to each vector
        bool is_near = false;  // it is among the nearest of one
        double score = 0;
    };

    void choose_nearest();
    void sort_hits();
    boost::json::object hit_object(const hit& of) const;
    boost::json::array sort_texts(const hit& of) const;

    const search_request& what_;
    std::string partition_;
    std::vector<hit> hits_;
};

/// The facets of a reply.
boost::json::object facets_of(const std::vector<search_facet>& wanted,
                              const std::vector<const searched_document*>& among);

}  // namespace holdfast::lab::couchbase
