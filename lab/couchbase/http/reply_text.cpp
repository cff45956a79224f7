#include "lab/couchbase/http/reply_text.hpp"

#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <charconv>

namespace holdfast::lab::couchbase {

namespace {

std::string_view reason_of(int status)
{
    switch (status) {
    case 200: return "OK";
    case 202: return "Accepted";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Object Not Found";
    case 405: return "Method Not Allowed";
    case 413: return "Content Too Large";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 503: return "Service Unavailable";
    default: return "Status";
    }
}

}  // namespace

std::string chunk_text(std::string_view part)
{
    char digits[16];
    const auto [end, why] = std::to_chars(digits, digits + sizeof digits, part.size(), 16);
    (void)why;
    return std::string{digits, end} + "\r\n" + std::string{part} + "\r\n";
}

std::string reply_text(const http_reply& reply, bool close, std::size_t chunk_size)
{
    const bool chunked = chunk_size != 0 || reply.more;
    std::string text = "HTTP/1.1 " + std::to_string(reply.status) + " " +
                       std::string{reason_of(reply.status)} + "\r\nServer: Couchbase Server\r\n" +
                       "Content-Type: " + reply.content_type + "\r\n";
    for (const auto& [name, value] : reply.headers)
        text += name + ": " + value + "\r\n";
    if (close)
        text += "Connection: close\r\n";
    if (!chunked)
        return text + "Content-Length: " + std::to_string(reply.body.size()) + "\r\n\r\n" +
               reply.body;
    text += "Transfer-Encoding: chunked\r\n\r\n";
    std::string_view rest = reply.body;
    const std::size_t most = chunk_size == 0 ? rest.size() : chunk_size;
    while (!rest.empty()) {
        text += chunk_text(rest.substr(0, most));
        rest.remove_prefix(std::min(most, rest.size()));
    }
    return reply.more ? text : text + std::string{last_chunk};
}

http_reply refuse(int status, std::string_view why)
{
    http_reply made;
    made.status = status;
    made.body = R"({"error":)" +
                boost::json::serialize(boost::json::string{why.data(), why.size()}) + "}";
    return made;
}

}  // namespace holdfast::lab::couchbase
