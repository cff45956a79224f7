#pragma once
#include "holdfast/error.hpp"
#include "lab/couchbase/cluster/administration.hpp"

#include <boost/json/object.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::lab::couchbase {

/// The name of an index, which may be one of a scope.
struct search_index_name {
    std::string bucket = {};  // both empty: a global one
    std::string scope = {};
    std::string name = {};

    /// "bucket.scope.name", or the name alone.
    std::string full() const;
};

/// Scopes and collections of a bucket; an empty collection: all of the scope.
using search_keyspaces = std::vector<std::pair<std::string, std::string>>;

struct search_index {
    std::string bucket = {};
    std::string bucket_uuid = {};
    std::string uuid = {};
    boost::json::object definition = {};
    search_keyspaces keyspaces = {};
};

/// Of the whole cluster, by their full names.
struct search_definitions final : service_definitions {
    std::map<std::string, search_index, std::less<>> indexes = {};
};

/// Which collections a definition is about: by its mapping, if it has "doc_config" with a "mode"
/// that begins with "scope."; else the default one, or all of the scope that the index belongs to.
search_keyspaces keyspaces_of(const boost::json::object& definition, const search_index_name& name);

}  // namespace holdfast::lab::couchbase
