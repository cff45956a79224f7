#pragma once
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab::couchbase {

struct http_request {
    std::string method = {};
    std::string path = {};  // as it was sent, without the query
    std::vector<std::string> parts = {};  // of the path, decoded
    std::string query = {};
    std::string authorization = {};
    std::string content_type = {};
    std::string body = {};
    bool keep_alive = true;
};

struct http_reply {
    int status = 200;
    std::string body = {};
    std::string content_type = "application/json";
    std::vector<std::pair<std::string, std::string>> headers = {};
    bool close = false;
    std::size_t chunk_size = 0;  // not 0: in chunks of so many bytes, whatever the service has
    /// Of a reply that goes on: the next part, empty if there is nothing new, none at its end. It
    /// is asked for when all before it is sent, and again after each notification of
    /// http_service::news().
    std::function<std::optional<std::string>()> more = {};
    std::chrono::milliseconds pause{0};  // not 0: `more` is asked again that often, too
    /// Asked at the end of `more`: whether the connection is to be closed, as if there were more.
    std::function<bool()> cut = {};
    /// Of a reply that is not there yet, all else is empty. It is asked for after each notification
    /// and at least every 10 ms until it is there, which it is by itself one day.
    std::function<std::optional<http_reply>()> later = {};
};

using form_fields = std::map<std::string, std::string, std::less<>>;

/// "a=1&b=x+y%21"; of equal names the last holds. None if it has too many fields or a wrong escape.
std::optional<form_fields> read_form(std::string_view text);

/// The path of a request without its escapes, in parts; none if an escape is wrong.
std::optional<std::vector<std::string>> split_path(std::string_view path);

/// The parts of a path that stand in the place of stars in "/a/*/b"; none if it is another path.
std::optional<std::vector<std::string>> match_path(std::string_view pattern,
                                                   const std::vector<std::string>& parts);

struct basic_login {
    std::string user;
    std::string password;
};
/// Of the header "Authorization: Basic ...".
std::optional<basic_login> read_basic_login(std::string_view authorization);

}  // namespace holdfast::lab::couchbase
