#pragma once
#include "lab/couchbase/cluster/node_index.hpp"
#include "lab/couchbase/fts/search_request.hpp"
#include "lab/couchbase/http/message.hpp"
#include "lab/couchbase/search/search_indexes.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::lab::couchbase {

/// The indexes of a node, and searches in them.
class search_engine {
public:
    search_engine(cluster& of, std::size_t number, runtime::world& in);

    search_definitions& definitions();
    /// By the full name; null if there is none, or its bucket is gone.
    search_index* find(const std::string& full_name);
    /// Of these collections of an index; none named: of all.
    void each_document(const search_index& of, const std::vector<std::string>& collections,
                       const std::function<void(const std::string&, const document&)>& take);
    /// The reply to a search, or that it comes later: when the index has come as far as it must.
    http_reply search(const search_index_name& name, const http_request& request);

private:
    struct pending_search;

    std::optional<http_reply> go_on(const pending_search& what);
    http_reply run(const pending_search& what, const search_index& on);

    cluster& on_;
    runtime::world& world_;
    node_index index_;
};

}  // namespace holdfast::lab::couchbase
