#pragma once
#include "holdfast/error.hpp"
#include "lab/couchbase/cluster/administration.hpp"
#include "lab/couchbase/views/view_map.hpp"
#include "lab/couchbase/views/view_query.hpp"

#include <boost/json/object.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace holdfast::lab::couchbase {

struct design_view {
    view_map map = {};
    view_reduce reduce = view_reduce::none;
};

struct design_document {
    boost::json::object body = {};
    std::uint64_t revision = 0;  // how often it was put
    std::map<std::string, design_view, std::less<>> views = {};
};

/// {"views": {"NAME": {"map": "function...", "reduce": "_count"}}}.
result<design_document> read_design_document(std::string_view text);

/// Of the whole cluster, by bucket and name: "dev_name" is another one than "name".
struct view_definitions final : service_definitions {
    using documents = std::map<std::string, design_document, std::less<>>;

    struct of_bucket {
        std::string uuid = {};
        documents designs = {};
    };
    std::map<std::string, of_bucket, std::less<>> buckets = {};

    /// Those of a bucket, empty if it is not the one for which they were made.
    documents& of(const bucket_layout& bucket);
};

}  // namespace holdfast::lab::couchbase
