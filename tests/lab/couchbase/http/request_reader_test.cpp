#include "lab/couchbase/http/request_reader.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace holdfast::lab::couchbase::request_reader_test {
namespace {

void feed(request_reader& into, std::string_view text)
{
    while (!text.empty()) {
        const auto free = into.writable();
        const std::size_t count = std::min(free.size(), text.size());
        std::copy_n(text.begin(), count, free.begin());
        into.received(count);
        text.remove_prefix(count);
    }
}

int refusal(std::string_view text, http_limits limits = {})
{
    request_reader reader{limits};
    feed(reader, text);
    const next_request got = reader.next();
    const auto* const refused = std::get_if<refused_request>(&got);
    return refused ? refused->status : 0;
}

TEST(lab_couchbase_http_reader, request_is_read_with_path_query_headers_and_body)
{
    request_reader reader;
    feed(reader,
         "POST /pools/a%20b/c?x=1&y HTTP/1.1\r\nHost: h\r\nAuthorization: Basic abc\r\n"
         "Content-Type: text/plain\r\nContent-Length: 3\r\n\r\nxyz");
    const next_request got = reader.next();
    const http_request& one = std::get<http_request>(got);
    EXPECT_EQ(one.method, "POST");
    EXPECT_EQ(one.path, "/pools/a%20b/c");
    EXPECT_EQ(one.parts, (std::vector<std::string>{"pools", "a b", "c"}));
    EXPECT_EQ(one.query, "x=1&y");
    EXPECT_EQ(one.authorization, "Basic abc");
    EXPECT_EQ(one.content_type, "text/plain");
    EXPECT_EQ(one.body, "xyz");
    EXPECT_TRUE(one.keep_alive);
    EXPECT_TRUE(std::holds_alternative<needs_bytes>(reader.next()));
}

TEST(lab_couchbase_http_reader, requests_arrive_byte_by_byte_and_several_at_once)
{
    const std::string first = "GET /one HTTP/1.1\r\n\r\n";
    const std::string second =
        "PUT /two HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
        "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    const std::string third = "GET /three HTTP/1.1\r\nConnection: close\r\n\r\n";
    const std::string all = first + second + third;
    for (const std::size_t step : {std::size_t{1}, std::size_t{7}, all.size()}) {
        request_reader reader;
        std::vector<http_request> got;
        for (std::size_t at = 0; at < all.size(); at += step) {
            feed(reader, std::string_view{all}.substr(at, step));
            for (next_request next = reader.next(); !std::holds_alternative<needs_bytes>(next);
                 next = reader.next())
                got.push_back(std::get<http_request>(next));
        }
        ASSERT_EQ(got.size(), 3u);
        EXPECT_EQ(got[0].path, "/one");
        EXPECT_EQ(got[1].body, "abcde");
        EXPECT_EQ(got[2].path, "/three");
        EXPECT_FALSE(got[2].keep_alive);
    }
}

TEST(lab_couchbase_http_reader, large_or_malformed_request_is_refused_with_its_status)
{
    const http_limits small{200, 10};
    EXPECT_EQ(refusal("GET /" + std::string(500, 'a') + " HTTP/1.1\r\n\r\n", small), 431);
    EXPECT_EQ(refusal("GET / HTTP/1.1\r\nX: " + std::string(500, 'a'), small), 431);
    EXPECT_EQ(refusal("PUT / HTTP/1.1\r\nContent-Length: 11\r\n\r\n12345678901", small), 413);
    EXPECT_EQ(refusal("PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
                      "fffff\r\n",
                      small),
              413);
    EXPECT_EQ(refusal("\x80\x01\x02 nonsense\r\n\r\n"), 400);
    EXPECT_EQ(refusal("GET /%zz HTTP/1.1\r\n\r\n"), 400);
    EXPECT_EQ(refusal("GET pools HTTP/1.1\r\n\r\n"), 400);
}

TEST(lab_couchbase_http_form, fields_are_decoded_and_limited)
{
    const auto form = read_form("a=1&b=x+y%21&c&a=2&=e");
    ASSERT_TRUE(form);
    EXPECT_EQ(form->at("a"), "2");
    EXPECT_EQ(form->at("b"), "x y!");
    EXPECT_EQ(form->at("c"), "");
    EXPECT_EQ(form->at(""), "e");
    EXPECT_FALSE(read_form("a=%1"));
    EXPECT_FALSE(read_form("a=%gg"));
    std::string many;
    for (int n = 0; n != 300; ++n)
        many += "&f" + std::to_string(n) + "=";
    EXPECT_FALSE(read_form(many));
}

TEST(lab_couchbase_http_form, basic_login_is_read)
{
    const auto login = read_basic_login("Basic YWRhOmxvdmU6bGFjZQ==");  // ada:love:lace
    ASSERT_TRUE(login);
    EXPECT_EQ(login->user, "ada");
    EXPECT_EQ(login->password, "love:lace");
    EXPECT_FALSE(read_basic_login(""));
    EXPECT_FALSE(read_basic_login("Bearer YWRhOmxvdmU6bGFjZQ=="));
    EXPECT_FALSE(read_basic_login("Basic ???"));
    EXPECT_FALSE(read_basic_login("Basic YWRh"));
}

}  // namespace
}  // namespace holdfast::lab::couchbase::request_reader_test
