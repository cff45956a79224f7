#pragma once
#include "lab/couchbase/http/message.hpp"

#include <boost/json/object.hpp>

#include <string_view>

namespace holdfast::lab::couchbase {

http_reply search_reply(const boost::json::object& body, int status = 200);
/// An error with the request, as the server repeats it.
http_reply search_failure(std::string_view why, const http_request& request, int status = 400);
http_reply search_index_missing(const http_request& request);

}  // namespace holdfast::lab::couchbase
