#include "shell/http/response_reader.hpp"

#include "shell/http/errc.hpp"
#include "support/read_replies.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace holdfast::http_response_reader_test {
namespace {

using proof::read_reply;
using shell::http::errc;
using shell::http::response_limits;
using shell::http::response_reader;

read_reply read(std::string_view bytes, bool closes = true, std::vector<std::size_t> sizes = {9999},
                std::optional<std::uint64_t> body_limit = {}, response_limits limits = {})
{
    response_reader reader{limits};
    proof::reply_feed feed{bytes, std::move(sizes), closes};
    return proof::read_one(reader, feed, body_limit);
}

struct known_reply {
    const char* what;
    std::string bytes;
    int status;
    std::string body;
    bool keeps_alive;
    bool by_close = false;  // it ends with the connection
};

std::vector<known_reply> known_replies()
{
    return {
        {"a length",
         "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}", 200,
         "{}", true},
        {"no body", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200, "", true},
        {"a status that has none", "HTTP/1.1 204 No Content\r\n\r\n", 204, "", true},
        {"no reason", "HTTP/1.1 404 \r\nContent-Length: 1\r\n\r\nx", 404, "x", true},
        {"chunks",
         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1\r\n \r\n6\r\n world"
         "\r\n0\r\n\r\n",
         200, "hello  world", true},
        {"no chunk but the last", "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\n\r\n",
         200, "", true},
        {"extensions and trailers",
         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b;c=\"d\"\r\nok\r\n0;last\r\n"
         "Content-Type: text/plain\r\nX-More: 1\r\n\r\n",
         200, "ok", true},
        {"the end of the connection", "HTTP/1.1 500 Oh\r\nServer: x\r\n\r\nall of it", 500,
         "all of it", false, true},
        {"a connection to be closed",
         "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx", 200, "x", false},
        {"the older protocol", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", 200, "x", false},
        {"an interim reply",
         "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLocation: /old\r\n\r\n"
         "HTTP/1.1 201 Created\r\nContent-Length: 1\r\n\r\nx",
         201, "x", true},
        {"a folded header", "HTTP/1.1 200 OK\r\nX-Long: a\r\n b\r\nContent-Length: 1\r\n\r\nx", 200,
         "x", true},
    };
}

TEST(http_response_reader, reply_of_every_framing_has_its_status_and_its_body)
{
    for (const known_reply& one : known_replies()) {
        SCOPED_TRACE(one.what);
        const read_reply got = read(one.bytes, one.by_close);
        EXPECT_FALSE(got.why) << got.why.message();
        EXPECT_TRUE(got.has_head && got.ended);
        EXPECT_EQ(got.status, one.status);
        EXPECT_EQ(got.body, one.body);
        EXPECT_EQ(got.keeps_alive, one.keeps_alive);
        EXPECT_EQ(got.location, "");
    }
    EXPECT_EQ(read(known_replies().front().bytes).content_type, "application/json");
    EXPECT_EQ(read("HTTP/1.1 302 Found\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n").location,
              "/there");
}

TEST(http_response_reader, reply_that_is_cut_anywhere_into_pieces_is_the_same_reply)
{
    for (const known_reply& one : known_replies()) {
        SCOPED_TRACE(one.what);
        const read_reply whole = read(one.bytes, one.by_close);
        for (std::size_t at = 1; at < one.bytes.size(); ++at)
            EXPECT_EQ(read(one.bytes, one.by_close, {at, 9999}), whole) << "cut at " << at;
        for (const std::size_t size : {1, 2, 3, 4, 5, 7, 11})
            EXPECT_EQ(read(one.bytes, one.by_close, {size}), whole) << "pieces of " << size;
    }
}

TEST(http_response_reader, connection_that_ends_within_a_reply_cuts_it_off)
{
    for (const known_reply& one : known_replies()) {
        SCOPED_TRACE(one.what);
        const std::size_t head = one.bytes.rfind("\r\n\r\n", one.bytes.size() - 5);
        const std::size_t limit = one.by_close ? head : one.bytes.size();
        for (std::size_t size = 0; size < limit; ++size) {
            const read_reply got = read(one.bytes.substr(0, size));
            EXPECT_EQ(got.why, errc::cut_off) << size << " bytes of it";
            EXPECT_FALSE(got.ended);
        }
    }
}

TEST(http_response_reader, replies_on_one_connection_come_one_after_the_other)
{
    const std::string one = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none";
    const std::string two =
        "HTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\n3\r\ntwo\r\n0\r\n\r\n";
    response_reader reader;
    proof::reply_feed first{one, {5}, false};
    EXPECT_TRUE(proof::read_one(reader, first).keeps_alive);
    proof::reply_feed second{two, {5}, false};
    const read_reply got = proof::read_one(reader, second);
    EXPECT_EQ(got.status, 404);
    EXPECT_EQ(got.body, "two");
    EXPECT_TRUE(got.keeps_alive);
}

TEST(http_response_reader, connection_with_bytes_after_the_reply_or_closed_is_not_used_again)
{
    const std::string reply = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx";
    EXPECT_TRUE(read(reply, false).keeps_alive);
    EXPECT_FALSE(read(reply + "y", false).keeps_alive);
    EXPECT_FALSE(read(reply + reply, false).keeps_alive);

    response_reader reader;
    proof::reply_feed feed{reply, {9999}, false};
    EXPECT_TRUE(proof::read_one(reader, feed).keeps_alive);
    reader.peer_closed();
    EXPECT_FALSE(reader.keeps_alive());
}

TEST(http_response_reader, whether_a_reply_has_begun_is_known_from_its_first_byte)
{
    response_reader reader;
    reader.restart({});
    EXPECT_FALSE(reader.has_begun());
    reader.writable()[0] = 'H';
    reader.received(1);
    EXPECT_TRUE(reader.has_begun());
    reader.restart({});
    reader.peer_closed();
    EXPECT_TRUE(reader.has_begun()) << "a byte that is left over";
}

TEST(http_response_reader, malformed_reply_is_refused_with_the_place)
{
    const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    const std::string bad[] = {
        "SSH-2.0-OpenSSH\r\n\r\n",
        "HTTP/2.0 200 OK\r\n\r\n",
        "HTTP/1.1 20 OK\r\n\r\n",
        "HTTP/1.1 099 OK\r\n\r\n",
        "HTTP/1.1 600 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\n: no name\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
        chunked + "xyz\r\n",
        chunked + "-5\r\nhello\r\n",
        chunked + "5\r\nhelloXX0\r\n\r\n",
        chunked + "11111111111111111\r\n",
        chunked + "5;\x01\r\nhello\r\n",
        chunked + "0\r\nno colon\r\n\r\n",
    };
    for (const std::string& one : bad) {
        for (const std::size_t size : {std::size_t{1}, one.size()}) {
            const read_reply got = read(one, true, {size});
            EXPECT_EQ(got.why, errc::malformed_reply) << one << ": " << got.why.message();
        }
    }
    const std::string no_size = chunked + "xyz\r\n";
    response_reader reader;
    proof::reply_feed feed{no_size, {9999}, false};
    reader.restart({});
    ASSERT_TRUE(feed.give(reader));
    (void)reader.next();
    const auto step = reader.next();
    ASSERT_FALSE(step);
    EXPECT_EQ(step.error().context("offset"), std::to_string(chunked.size()));
}

TEST(http_response_reader, codings_and_protocols_that_were_not_asked_for_are_refused)
{
    for (const char* const header : {"Transfer-Encoding: gzip, chunked", "Transfer-Encoding: gzip",
                                     "Content-Encoding: gzip\r\nContent-Length: 1"}) {
        const std::string bytes = std::string{"HTTP/1.1 200 OK\r\n"} + header + "\r\n\r\nx";
        EXPECT_EQ(read(bytes).why, errc::not_supported) << header;
    }
    EXPECT_EQ(read("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n").why,
              errc::not_supported);
    const read_reply plain = read(
        "HTTP/1.1 200 OK\r\nContent-Encoding: Identity\r\nContent-Length: 1\r\n\r\nx");
    EXPECT_EQ(plain.body, "x");
}

TEST(http_response_reader, head_without_an_end_is_refused_at_the_limit)
{
    const response_limits limits{1000, 2000};
    const std::string long_line = "HTTP/1.1 200 OK\r\nX: " + std::string(5000, 'x');
    std::string many_lines = "HTTP/1.1 200 OK\r\n";
    std::string interim;
    for (int n = 0; n != 500; ++n) {
        many_lines += "X-" + std::to_string(n) + ": y\r\n";
        interim += "HTTP/1.1 100 Continue\r\n\r\n";
    }
    for (const std::string& one : {long_line, many_lines, interim, std::string(5000, 'x')}) {
        for (const std::size_t size : {1, 100, 999, 5000}) {
            const read_reply got = read(one, false, {size}, {}, limits);
            EXPECT_TRUE(got.why == errc::head_too_long ||
                        (one[0] == 'x' && got.why == errc::malformed_reply))
                << one.substr(0, 20) << " in pieces of " << size << ": " << got.why.message();
        }
    }
    // At the limit it is taken.
    std::string fits = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: ";
    fits += std::string(1000 - 4 - fits.size(), 'x') + "\r\n\r\n";
    for (const std::size_t size : {1, 100, 1000})
        EXPECT_TRUE(read(fits, false, {size}, {}, limits).ended) << size;
    fits.insert(fits.size() - 4, "x");
    for (const std::size_t size : {1, 100, 1000, 1001})
        EXPECT_EQ(read(fits, false, {size}, {}, limits).why, errc::head_too_long) << size;
}

TEST(http_response_reader, line_without_an_end_within_a_body_is_refused_when_the_buffer_is_full)
{
    const response_limits limits{500, 1000};
    const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (const std::string& endless :
         {"5;x=" + std::string(3000, 'y'), "0\r\nX: " + std::string(3000, 'y'),
          "1\r\nx\r\n" + std::string(3000, '0')}) {
        for (const std::size_t size : {1, 7, 3000}) {
            const read_reply got = read(chunked + endless, false, {size}, {}, limits);
            EXPECT_EQ(got.why, errc::malformed_reply) << endless.substr(0, 8) << " by " << size;
        }
    }
}

TEST(http_response_reader, body_beyond_the_limit_of_its_reader_is_refused)
{
    const std::string head = "HTTP/1.1 200 OK\r\n";
    const auto refused = [&](const std::string& bytes, std::size_t size) {
        return read(bytes, true, {size}, 10).why;
    };
    for (const std::size_t size : {1, 3, 5000}) {
        EXPECT_EQ(refused(head + "Content-Length: 11\r\n\r\nhello world", size),
                  errc::body_too_long);
        EXPECT_EQ(refused(head + "Content-Length: 18446744073709551615\r\n\r\n", size),
                  errc::body_too_long);
        EXPECT_EQ(
            refused(head + "Transfer-Encoding: chunked\r\n\r\n6\r\nhello \r\n5\r\nworld\r\n", size),
            errc::body_too_long);
        EXPECT_EQ(refused(head + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", size),
                  errc::body_too_long);
        EXPECT_EQ(refused(head + "\r\nhello world", size), errc::body_too_long);
        EXPECT_FALSE(refused(head + "Content-Length: 10\r\n\r\nhello worl", size));
        EXPECT_FALSE(refused(head + "\r\nhello worl", size));
    }
    const read_reply endless = read(
        head + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx", false);
    EXPECT_FALSE(endless.why) << "without a limit it goes on";
    EXPECT_EQ(endless.body, "x");
}

}  // namespace
}  // namespace holdfast::http_response_reader_test
