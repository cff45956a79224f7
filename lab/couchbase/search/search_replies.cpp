#include "lab/couchbase/search/search_replies.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <utility>

namespace holdfast::lab::couchbase {

namespace json = boost::json;

http_reply search_reply(const json::object& body, int status)
{
    http_reply made;
    made.status = status;
    made.body = json::serialize(body);
    return made;
}

http_reply search_failure(std::string_view why, const http_request& request, int status)
{
    json::object body{{"error", json::string{why.data(), why.size()}}};
    boost::system::error_code wrong;
    json::value sent = json::parse({request.body.data(), request.body.size()}, wrong);
    if (!wrong && sent.is_object())
        body["request"] = std::move(sent);
    body["status"] = "fail";
    return search_reply(body, status);
}

http_reply search_index_missing(const http_request& request)
{
    return search_failure("rest_auth: preparePerms, err: index not found", request);
}

}  // namespace holdfast::lab::couchbase
