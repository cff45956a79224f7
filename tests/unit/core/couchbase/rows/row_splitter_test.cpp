#include "core/couchbase/rows/row_splitter.hpp"

#include "holdfast/couchbase/errc.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace holdfast::core::couchbase::row_splitter_test {
namespace {

using holdfast::couchbase::errc;

struct outcome {
    std::vector<std::string> rows = {};
    std::string metadata = {};
    std::string fault = {};
    std::string offset = {};

    friend bool operator==(const outcome&, const outcome&) = default;
};

/// Feeds the text in pieces that end at `cuts`, and at the end of the text.
outcome split(std::string_view text, const std::vector<std::size_t>& cuts = {},
              const row_limits& limits = {}, std::string_view array = "results")
{
    row_splitter splitter{array, limits};
    outcome found;
    const auto take = [&](std::size_t from, std::size_t to) {
        const std::string piece{text.substr(from, to - from)};  // gone afterwards
        splitter.feed(piece);
        for (std::string_view row; splitter.next(row);)
            found.rows.emplace_back(row);
        return !splitter.failed();
    };
    std::size_t from = 0;
    bool good = true;
    for (const std::size_t cut : cuts) {
        good = good && take(from, cut);
        from = cut;
    }
    good = good && take(from, text.size());
    if (good && splitter.finish()) {
        EXPECT_TRUE(splitter.complete());
        EXPECT_EQ(splitter.offset(), text.size());
        EXPECT_EQ(splitter.rows(), found.rows.size());
        found.metadata = std::move(splitter).metadata();
        return found;
    }
    EXPECT_TRUE(splitter.failed());
    EXPECT_FALSE(splitter.complete());
    const error fault = std::move(splitter).fault();
    EXPECT_EQ(fault.code(), errc::decoding_failure);
    found.fault = fault.message();
    found.offset = fault.context("offset");
    return found;
}

using strings = std::vector<std::string>;

constexpr std::string_view reply = R"({
  "requestID": "r\"1]",
  "signature": {"results": [1, 2], "*": "[{"},
  "results": [
    {"a": {"b": [1, 2, {"c": "]}"}]}, "d": "\\"},
    17 , -1.5e+3,"text, \"]\\","\\\\", true,false ,null,
    [], {}, [[{}], 0]
  ],
  "errors": [{"results": ["x"]}],
  "status": "success"
}
)";

const strings reply_rows = {R"({"a": {"b": [1, 2, {"c": "]}"}]}, "d": "\\"})",
                            "17",
                            "-1.5e+3",
                            R"("text, \"]\\")",
                            R"("\\\\")",
                            "true",
                            "false",
                            "null",
                            "[]",
                            "{}",
                            "[[{}], 0]"};

constexpr std::string_view reply_metadata = R"({
  "requestID": "r\"1]",
  "signature": {"results": [1, 2], "*": "[{"},
  "results": [],
  "errors": [{"results": ["x"]}],
  "status": "success"
}
)";

TEST(row_splitter, reply_in_one_piece_gives_rows_and_the_rest)
{
    const outcome found = split(reply);
    EXPECT_EQ(found.fault, "");
    EXPECT_EQ(found.rows, reply_rows);
    EXPECT_EQ(found.metadata, reply_metadata);
}

TEST(row_splitter, reply_cut_anywhere_gives_the_same)
{
    const outcome whole = split(reply);
    for (std::size_t first = 0; first <= reply.size(); ++first) {
        SCOPED_TRACE(first);
        EXPECT_EQ(split(reply, {first}), whole);
        EXPECT_EQ(split(reply, {first, std::min(first + 1, reply.size())}), whole);
        EXPECT_EQ(split(reply, {first, std::min(first + 70, reply.size())}), whole);
    }
    std::vector<std::size_t> every;
    for (std::size_t at = 0; at < reply.size(); ++at)
        every.push_back(at);
    EXPECT_EQ(split(reply, every), whole);
}

TEST(row_splitter, row_that_lies_in_the_piece_is_not_copied)
{
    row_splitter splitter{"results"};
    const std::string_view first = R"({"results":[{"a":1},{"b")";
    const std::string_view second = R"(:2},{"c":3},{"d")";
    splitter.feed(first);
    std::string_view row;
    ASSERT_TRUE(splitter.next(row));
    EXPECT_EQ(row.data(), first.data() + 12);
    ASSERT_FALSE(splitter.next(row));

    splitter.feed(second);
    std::string_view joined, whole;
    ASSERT_TRUE(splitter.next(joined));
    ASSERT_TRUE(splitter.next(whole));
    EXPECT_EQ(whole.data(), second.data() + 4);
    ASSERT_FALSE(splitter.next(row));
    EXPECT_EQ(joined, R"({"b":2})");  // both are valid until the next piece
    EXPECT_EQ(whole, R"({"c":3})");
}

TEST(row_splitter, only_an_array_of_the_outermost_object_has_rows)
{
    struct row { std::string_view text; strings rows; };
    const row table[] = {
        {R"({"x":{"results":[1]}})", {}},
        {R"({"x":[{"results":[1]}]})", {}},
        {R"({"results":null})", {}},
        {R"({"results":{"results":[1]}})", {}},
        {R"({"results":"[1]"})", {}},
        {R"({"results":[]})", {}},
        {R"({"x":"results","y":[1]})", {}},
        {R"({"result":[1],"resultss":[1],"RESULTS":[1]})", {}},
        {R"({})", {}},
        {" \r\n\t{ \"a\" : [ 1 ] , \"results\" : [ 2 ] } \n", {"2"}},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.text);
        const outcome found = split(r.text);
        EXPECT_EQ(found.fault, "");
        EXPECT_EQ(found.rows, r.rows);
    }
    EXPECT_EQ(split(R"({"hits":[1],"results":[2]})", {}, {}, "hits").rows, strings{"1"});
    EXPECT_EQ(split(R"({"hits":[1],"results":[2]})", {}, {}, "hits").metadata,
              R"({"hits":[],"results":[2]})");
}

TEST(row_splitter, malformed_reply_is_refused_where_it_is_wrong)
{
    struct row { std::string_view text; std::string_view offset; std::string_view fault; };
    const row table[] = {
        {"", "0", "the reply ends in the middle, after 0 rows"},
        {"[]", "0", "expected an object, found '['"},
        {"<html>", "0", "expected an object, found '<'"},
        {"{1", "1", "expected a key, found '1'"},
        {"{,", "1", "expected a key, found ','"},
        {R"({"a" 1)", "5", "expected a colon, found '1'"},
        {R"({"a":})", "5", "expected a value, found '}'"},
        {R"({"a":nul1)", "8", "expected true, false or null, found '1'"},
        {R"({"a":+1)", "5", "expected a value, found '+'"},
        {R"({"a":-a)", "6", "expected a digit, found 'a'"},
        {R"({"a":1.}))", "7", "expected a digit, found '}'"},
        {R"({"a":1e+}))", "8", "expected a digit, found '}'"},
        {R"({"a":01)", "6", "expected a comma or the end of the object, found '1'"},
        {R"({"a":1 2)", "7", "expected a comma or the end of the object, found '2'"},
        {R"({"a":1,})", "7", "expected a key, found '}'"},
        {R"({"a":[1}})", "7", "expected the end of the array, found '}'"},
        {R"({"a":{"b":1]})", "11", "expected the end of the object, found ']'"},
        {R"({"results":[1 2])", "14", "expected a comma or the end of the rows, found '2'"},
        {R"({"results":[,])", "12", "expected a value, found ','"},
        {R"({"results":[1,])", "14", "expected a value, found ']'"},
        {R"({"results":[{"a":[}]})", "18", "expected the end of the array, found '}'"},
        {"{\"results\":[\x01", "12", "expected a value, found byte 1"},
        {R"({"results":[1],"results":[2]})", "25", "a second array of rows"},
        {R"({} x)", "3", "expected nothing more, found 'x'"},
        {R"({"results":[1)", "13", "the reply ends in the middle, after 0 rows"},
        {R"({"results":[1,)", "14", "the reply ends in the middle, after 1 rows"},
        {R"({"results":["a)", "14", "the reply ends in the middle, after 0 rows"},
        {R"({"results":[])", "13", "the reply ends in the middle, after 0 rows"},
        {R"({"a)", "3", "the reply ends in the middle, after 0 rows"},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.text);
        const outcome found = split(r.text);
        EXPECT_EQ(found.offset, r.offset);
        EXPECT_EQ(found.fault,
                  "invalid reply at byte " + std::string{r.offset} + ": " + std::string{r.fault});
        for (std::size_t cut = 0; cut <= r.text.size(); ++cut)
            EXPECT_EQ(split(r.text, {cut}), found);
    }
}

TEST(row_splitter, nothing_comes_after_a_fault)
{
    row_splitter splitter{"results"};
    splitter.feed(R"({"results":[1,,2]})");
    std::string_view row;
    EXPECT_TRUE(splitter.next(row));
    EXPECT_FALSE(splitter.next(row));
    EXPECT_TRUE(splitter.failed());
    EXPECT_FALSE(splitter.next(row));
    EXPECT_FALSE(splitter.finish());
    splitter.feed("[]");
    EXPECT_FALSE(splitter.next(row));
}

TEST(row_splitter, row_beyond_its_limit_is_refused_however_it_is_cut)
{
    const row_limits limits{.max_row_bytes = 10};
    const std::string good = R"({"results":["12345678"]})", bad = R"({"results":["123456789"]})";
    for (std::size_t cut = 0; cut <= bad.size(); ++cut) {
        EXPECT_EQ(split(good, {std::min(cut, good.size())}, limits).rows, strings{R"("12345678")"});
        const outcome found = split(bad, {cut}, limits);
        EXPECT_NE(found.fault.find("a row of "), std::string::npos) << found.fault;
        EXPECT_TRUE(found.rows.empty());
    }
    // It is not collected to its end first.
    row_splitter splitter{"results", limits};
    std::string_view row;
    splitter.feed(R"({"results":["123456789)");
    EXPECT_TRUE(!splitter.next(row) && !splitter.failed());
    splitter.feed("01");
    EXPECT_TRUE(!splitter.next(row) && splitter.failed());
}

TEST(row_splitter, metadata_beyond_its_limit_is_refused_and_rows_do_not_count)
{
    const row_limits limits{.max_metadata_bytes = 20};
    const std::string rows = R"({"results":[)" + std::string(500, ' ') + R"("a long row of text")";
    EXPECT_EQ(split(rows + "]}   ", {}, limits).rows.size(), 1u);
    EXPECT_EQ(split(rows + "] ,\"a\":1}", {}, limits).fault.substr(0, 26),
              "invalid reply at byte 541:");
    row_splitter splitter{"results", limits};
    std::string_view row;
    splitter.feed(R"({"a":")");
    EXPECT_TRUE(!splitter.next(row) && !splitter.failed());
    const std::string more(20, 'a');  // stays where it is until it is taken
    splitter.feed(more);
    EXPECT_TRUE(!splitter.next(row) && splitter.failed());
}

TEST(row_splitter, depth_is_limited)
{
    const auto nested = [](std::size_t levels) {
        return R"({"results":[)" + std::string(levels, '[') + std::string(levels, ']') + "]}";
    };
    constexpr std::size_t most = row_splitter::max_depth - 2;
    EXPECT_EQ(split(nested(most)).rows.size(), 1u);
    EXPECT_EQ(split(nested(most + 1)).offset, std::to_string(12 + most));
    EXPECT_EQ(split(nested(most + 1)).fault,
              "invalid reply at byte 110: expected a value that is not nested so deeply, found "
              "'['");
}

TEST(row_splitter, long_rows_and_escapes_across_blocks_are_found)
{
    // Blocks of 64 bytes are looked at together: quotes, backslashes and brackets at all places.
    constexpr std::string_view tails[] = {R"(\")", R"(\\)", R"(\\\")", R"(\\\\)", R"(}])"};
    for (std::size_t pad = 0; pad < 130; ++pad)
        for (const std::string_view tail : tails) {
            const std::string row = R"({"k":")" + std::string(pad, 'x') + std::string{tail} +
                                    R"(","l":[{}]})";
            const std::string text = R"({"results":[)" + row + "," + row + "]}";
            SCOPED_TRACE(row);
            EXPECT_EQ(split(text).rows, (strings{row, row}));
            EXPECT_EQ(split(text, {20 + pad}).rows, (strings{row, row}));
        }
}

}  // namespace
}  // namespace holdfast::core::couchbase::row_splitter_test
