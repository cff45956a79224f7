#include "shell/http/request.hpp"

#include "shell/http/errc.hpp"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::http_request_test {
namespace {

using shell::http::errc;
using shell::http::header;
using shell::http::request;

result<std::string> text_of(const request& what)
{
    bson::byte_buffer to;
    auto written = shell::http::write_request(what, to);
    if (!written) {
        EXPECT_TRUE(to.empty());
        return std::move(written).error();
    }
    return std::string{reinterpret_cast<const char*>(to.data()), to.size()};
}

request ping()
{
    request made;
    made.target = "/admin/ping";
    made.host = "n0:8093";
    return made;
}

TEST(http_request, get_has_no_more_than_it_needs)
{
    EXPECT_EQ(text_of(ping()).value(), "GET /admin/ping HTTP/1.1\r\nHost: n0:8093\r\n\r\n");
}

TEST(http_request, post_has_all_headers_and_the_length_of_its_body)
{
    const header more[] = {{"X-Priority", "-1"}};
    request what = ping();
    what.method = "POST";
    what.target = "/query/service?a=%20b";
    what.authorization = "Basic YTpi";
    what.user_agent = "holdfast/1";
    what.content_type = "application/json";
    what.more = more;
    what.body = R"({"statement":"SELECT 1"})";
    EXPECT_EQ(text_of(what).value(),
              "POST /query/service?a=%20b HTTP/1.1\r\nHost: n0:8093\r\n"
              "Authorization: Basic YTpi\r\nUser-Agent: holdfast/1\r\n"
              "Content-Type: application/json\r\nX-Priority: -1\r\nContent-Length: 24\r\n\r\n"
              R"({"statement":"SELECT 1"})");
    what = ping();
    what.method = "PUT";
    EXPECT_NE(text_of(what).value().find("Content-Length: 0\r\n"), std::string::npos);
}

TEST(http_request, part_that_would_begin_another_header_is_refused_and_not_shown)
{
    const std::string evil = "x\r\nX-Evil: 1";
    const auto refuse = [&](const char* what, auto change) {
        SCOPED_TRACE(what);
        request made = ping();
        change(made);
        const auto text = text_of(made);
        ASSERT_FALSE(text);
        EXPECT_EQ(text.error().code(), errc::invalid_request);
        EXPECT_EQ(text.error().message().find("Evil"), std::string::npos) << text.error().message();
    };
    refuse("method", [&](request& one) { one.method = evil; });
    refuse("target", [&](request& one) { one.target = "/x\r\nX-Evil: 1"; });
    refuse("host", [&](request& one) { one.host = evil; });
    refuse("authorization", [&](request& one) { one.authorization = evil; });
    refuse("user agent", [&](request& one) { one.user_agent = evil; });
    refuse("content type", [&](request& one) { one.content_type = evil; });
    const header by_value[] = {{"X-A", evil}};
    refuse("value", [&](request& one) { one.more = by_value; });
    const header by_name[] = {{"X-Evil: 1\r\nX-A", "b"}};
    refuse("name", [&](request& one) { one.more = by_name; });
}

TEST(http_request, what_cannot_stand_where_it_would_is_refused)
{
    const auto refused = [](auto change) {
        request made = ping();
        change(made);
        return !text_of(made);
    };
    for (const char* const target : {"", "admin", "/a b", "/a\tb", "/\x7f", "http://n0/"})
        EXPECT_TRUE(refused([&](request& one) { one.target = target; })) << target;
    for (const char* const method : {"", "GE T", "HEAD", "CONNECT", "G\xc3\x8bT"})
        EXPECT_TRUE(refused([&](request& one) { one.method = method; })) << method;
    for (const char* const host : {"", "a b"})
        EXPECT_TRUE(refused([&](request& one) { one.host = host; })) << host;
    EXPECT_TRUE(refused([](request& one) { one.user_agent = std::string_view{"a\0b", 3}; }));
    for (const char* const name : {"", "a b", "Content-Length", "content-length", "HOST",
                                   "Transfer-Encoding", "Connection", "Expect"}) {
        const header more[] = {{name, "1"}};
        EXPECT_TRUE(refused([&](request& one) { one.more = more; })) << name;
    }
    EXPECT_FALSE(refused([](request& one) { one.user_agent = "caf\xc3\xa9\tx"; }));
}

}  // namespace
}  // namespace holdfast::http_request_test
