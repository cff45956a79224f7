#pragma once
#include "core/couchbase/service/service_request.hpp"
#include "holdfast/couchbase/service_options.hpp"
#include "holdfast/error.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace holdfast::core::couchbase {

/// An index; without bucket and scope it is one of the cluster.
struct search_target {
    std::string_view index = {};
    std::string_view bucket = {};
    std::string_view scope = {};
};

/// A search, however often it is sent.
struct search_order {
    std::string path = {};
    std::string members = {};  // of the body: all but "ctl"
    std::string control = {};  // of "ctl": all but the timeout
    bool own_control = true;   // false: it is among the raw options

    service_request request(std::chrono::milliseconds time_left) const;
};

/// `request` is a JSON object: {"query": {"match": "inn"}}. Options replace its members of the same
/// meaning, as limit does "size"; "ctl" is merged. errc::invalid_argument if it is something else.
result<search_order> make_search(const search_target& target, std::string_view request,
                                 const holdfast::couchbase::search_options& options);

}  // namespace holdfast::core::couchbase
