#pragma once
#include "lab/couchbase/cluster/cluster.hpp"
#include "lab/couchbase/http/message.hpp"
#include "lab/couchbase/http/reply_text.hpp"

#include <boost/json/object.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab::couchbase {

/// A request that has found its route.
struct route_call {
    cluster& on;
    std::size_t number;  // of the node that is asked
    const http_request& request;
    std::string user = {};
    std::vector<std::string> names = {};  // in place of the stars
    form_fields form = {};

    node& here() const { return on.at(number); }
    /// A field of the form; empty if it is missing.
    std::string field(std::string_view name) const;
};

enum class access : std::uint8_t { all, login, administrator };

struct route {
    std::string_view method;
    std::string_view path;  // a star stands for one part
    access needs;
    http_reply (*answer)(route_call& call);
};

std::span<const route> pool_routes();
std::span<const route> bucket_routes();
std::span<const route> collection_routes();
std::span<const route> user_routes();
std::span<const route> membership_routes();
std::span<const route> lab_routes();

http_reply json_reply(const boost::json::value& body, int status = 200);
/// {"errors":{"name":"why"}}, with the status 400.
http_reply wrong_field(std::string_view name, std::string_view why);
boost::json::string json_text(std::string_view text);
/// The nodes as /pools/default shows them.
boost::json::array node_list(route_call& call);

}  // namespace holdfast::lab::couchbase
