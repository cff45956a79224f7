#include "holdfast/couchbase/content.hpp"

#include "holdfast/json/boost.hpp"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include <string>

namespace content_test {

namespace cb = holdfast::couchbase;
using holdfast::result;

struct airline {
    std::string name;
    int fleet = 0;
    friend bool operator==(const airline&, const airline&) = default;
};
BOOST_DESCRIBE_STRUCT(airline, (), (name, fleet))

/// With a transcoder of its own.
struct picture {
    std::string pixels;
};
result<cb::encoded_content> to_content(const picture& from)
{
    if (from.pixels.empty())
        return holdfast::error{cb::errc::encoding_failure, "no pixels"};
    return cb::encoded_content{"PIC" + from.pixels, 0x01000007};
}
result<picture> from_content(std::type_identity<picture>, cb::encoded_content stored)
{
    if (stored.flags != 0x01000007)
        return holdfast::error{cb::errc::decoding_failure, "no picture"};
    return picture{stored.bytes.substr(3)};
}

namespace {

template <class T>
cb::encoded_content encoded(const T& value)
{
    holdfast::bson::byte_buffer out;
    const std::uint32_t flags = cb::encode_content(out, value).value();
    return {std::string{reinterpret_cast<const char*>(out.data()), out.size()}, flags};
}

TEST(couchbase_content, type_decides_the_flags)
{
    const auto expect = [](const cb::encoded_content& found, std::string_view bytes,
                           std::uint32_t flags) {
        EXPECT_EQ(found.bytes, bytes);
        EXPECT_EQ(found.flags, flags) << bytes;
    };
    expect(encoded(airline{"KLM", 110}), R"({"name":"KLM","fleet":110})", 0x02000006);
    expect(encoded(cb::raw_json{" {} "}), " {} ", 0x02000006);
    expect(encoded(cb::raw_text{"text"}), "text", 0x04000006);
    expect(encoded(cb::raw_bytes{{0, 1}}), std::string_view{"\0\1", 2}, 0x03000006);
    expect(encoded(cb::raw_bytes{}), "", 0x03000006);
    expect(encoded(boost::json::value{{"a", 1}}), R"({"a":1})", 0x02000006);
    expect(encoded(picture{"xy"}), "PICxy", 0x01000007);
    expect(encoded(5), "5", 0x02000006);
}

TEST(couchbase_content, encoded_value_is_decoded_to_the_same_value)
{
    const airline klm{"KLM", 110};
    EXPECT_EQ(cb::decode_content<airline>(encoded(klm)).value(), klm);
    EXPECT_EQ(cb::decode_content<cb::raw_json>(encoded(klm)).value().text(),
              R"({"name":"KLM","fleet":110})");
    EXPECT_EQ(cb::decode_content<cb::raw_text>({"t", 0x04000006}).value().text, "t");
    EXPECT_EQ(cb::decode_content<cb::raw_bytes>({"t", 0x03000006}).value().bytes,
              std::vector<std::uint8_t>{'t'});
    EXPECT_EQ(cb::decode_content<boost::json::value>({"[1]", 0x02000006}).value(),
              boost::json::parse("[1]"));
    EXPECT_EQ(cb::decode_content<picture>(encoded(picture{"xy"})).value().pixels, "xy");
}

TEST(couchbase_content, json_of_other_sdks_is_known_by_its_flags)
{
    for (const std::uint32_t flags : {0x02000000u, 0x02000006u, 0x00000000u})
        EXPECT_EQ(cb::format_of(flags), cb::content_format::json) << flags;
    EXPECT_EQ(cb::format_of(0x04000000), cb::content_format::text);
    EXPECT_EQ(cb::format_of(0x01000000), cb::content_format::own);
    EXPECT_EQ(cb::format_of(0x05000000), cb::content_format::unknown);
    EXPECT_EQ(cb::format_of(0x22000006), cb::content_format::unknown);
}

TEST(couchbase_content, flags_that_do_not_fit_are_named_with_those_that_would)
{
    const auto failed = cb::decode_content<airline>({"text", 0x04000006}).error();
    EXPECT_EQ(failed.code(), cb::errc::decoding_failure);
    EXPECT_EQ(failed.message(),
              "the document has the flags 0x04000006 (text), and this type is "
              "read from 0x02000006 (JSON)");
    EXPECT_FALSE(cb::decode_content<cb::raw_json>({"", 0x03000006}));
    EXPECT_FALSE(cb::decode_content<cb::raw_text>({"", 0x02000006}));
    EXPECT_FALSE(cb::decode_content<cb::raw_bytes>({"", 0x02000006}));
}

TEST(couchbase_content, error_of_a_mapping_keeps_its_path)
{
    const auto failed = cb::decode_content<airline>({R"({"name":1})", 0x02000006}).error();
    EXPECT_EQ(failed.code(), cb::errc::decoding_failure);
    EXPECT_EQ(failed.context("path"), "name");
    EXPECT_EQ(failed.message(),
              "the content could not be decoded: name: expected string, found number");
    holdfast::bson::byte_buffer out;
    EXPECT_EQ(cb::encode_content(out, airline{"\xff", 1}).error().code(),
              cb::errc::encoding_failure);
    EXPECT_EQ(cb::encode_content(out, picture{}).error().message(), "no pixels");
    EXPECT_TRUE(out.empty());
}

}  // namespace
}  // namespace content_test
