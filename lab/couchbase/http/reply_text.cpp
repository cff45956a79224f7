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
    case 201: return "Created";
    case 202: return "Accepted";
    case 302: return "Found";
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

std::string chunks_text(std::string_view part, std::size_t chunk_size)
{
    const std::size_t most = chunk_size == 0 ? part.size() : chunk_size;
    std::string text;
    text.reserve(part.size() + (part.size() / std::max<std::size_t>(most, 1) + 1) * 8);
    while (!part.empty()) {
        const std::string_view one = part.substr(0, most);
        char digits[16];
        const auto [end, why] = std::to_chars(digits, digits + sizeof digits, one.size(), 16);
        (void)why;
        text.append(digits, end).append("\r\n").append(one).append("\r\n");
        part.remove_prefix(one.size());
    }
    return text;
}

std::string reply_text(const http_reply& reply, bool close)
{
    const bool chunked = reply.chunk_size != 0 || reply.more;
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
    text += "Transfer-Encoding: chunked\r\n\r\n" + chunks_text(reply.body, reply.chunk_size);
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
