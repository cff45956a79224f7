#include "holdfast/bson/document.hpp"
#include "holdfast/bson/mapping.hpp"

#include <boost/describe.hpp>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace holdfast::bson::text_check_test {

struct address {
    std::string street;
    std::vector<std::string> lines;
};
BOOST_DESCRIBE_STRUCT(address, (), (street, lines))

struct person {
    std::string name;
    std::optional<std::string> nick;
    std::variant<std::string, int> number;
    std::map<std::string, address> homes;
};
BOOST_DESCRIBE_STRUCT(person, (), (name, nick, number, homes))

namespace {

const std::string latin_1 = "caf\xE9 noir, in Latin-1";

template <class F>
std::string refusal(F make)
{
    try {
        make();
    } catch (const failure& why) {
        return why.error().code() == errc::invalid_utf8 ? why.error().message() : "another error";
    }
    return "no error";
}

TEST(text_check, mapped_struct_with_invalid_utf8_is_refused_by_path_and_byte)
{
    struct row {
        const char* path;
        void (*spoil)(person&);
    };
    const row table[] = {
        {"name", [](person& p) { p.name = latin_1; }},
        {"nick", [](person& p) { p.nick = latin_1; }},
        {"number", [](person& p) { p.number = latin_1; }},
        {"homes.old.street", [](person& p) { p.homes["old"].street = latin_1; }},
        {"homes.old.lines.1", [](person& p) { p.homes["old"].lines = {"ascii", latin_1}; }},
    };
    for (const row& r : table) {
        person p;
        p.homes["new"] = {"Grüner Weg 1", {"zwölf"}};
        r.spoil(p);
        const auto made = to_bson(p);
        ASSERT_FALSE(made) << r.path;
        EXPECT_EQ(made.error().code(), errc::invalid_utf8);
        EXPECT_EQ(made.error().message(),
                  std::string{r.path} +
                      ": the text is not UTF-8, byte 3 is 0xe9; convert it to "
                      "UTF-8, or store it as bson::binary");
        EXPECT_EQ(made.error().context("path"), r.path);
        EXPECT_EQ(made.error().context("offset"), "3");
    }
}

TEST(text_check, map_key_with_invalid_utf8_is_refused)
{
    const auto made = to_bson(std::map<std::string, int>{{"caf\xE9", 1}});
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().message(),
              "\"caf\\xe9\": the key is not UTF-8, byte 3 is 0xe9; convert it to UTF-8");
}

TEST(text_check, doc_and_arr_refuse_invalid_utf8_in_every_kind_of_text)
{
    const std::string expected = ": the text is not UTF-8, byte 3 is 0xe9";
    EXPECT_EQ(refusal([] { (void)doc("a", latin_1); }).substr(0, 40), "a" + expected);
    EXPECT_EQ(refusal([] { (void)doc("a", latin_1.c_str()); }).substr(0, 40), "a" + expected);
    EXPECT_EQ(refusal([] { (void)doc("a", code{latin_1}); }).substr(0, 40), "a" + expected);
    EXPECT_EQ(refusal([] { (void)doc("a", symbol{latin_1}); }).substr(0, 40), "a" + expected);
    EXPECT_EQ(refusal([] { (void)doc("a", regex{latin_1}); }).substr(0, 40), "a" + expected);
    EXPECT_EQ(refusal([] { (void)arr(1, latin_1); }).substr(0, 40), "1" + expected);
    EXPECT_EQ(refusal([] { (void)doc("a", object("b", list(latin_1))); }).substr(0, 44),
              "a.b.0" + expected);
}

/// Every length, so that each way of looking for high bits meets it at each place.
TEST(text_check, invalid_byte_is_found_at_every_place_of_every_length)
{
    for (std::size_t size = 1; size <= 40; ++size) {
        for (std::size_t at = 0; at < size; ++at) {
            std::string text(size, 'a');
            text[at] = '\xFF';
            byte_buffer bytes;
            builder out{bytes, check_utf8};
            const auto done = out.add("x", text).finish();
            ASSERT_FALSE(done) << size << ' ' << at;
            EXPECT_EQ(done.error().context("offset"), std::to_string(at)) << size;
        }
        EXPECT_NO_THROW((void)doc("x", std::string(size, 'a'), "y", std::string(size, 'a') + "é"));
    }
}

TEST(text_check, text_is_taken_as_it_is_by_plain_builders_and_on_demand)
{
    byte_buffer bytes;
    builder out{bytes};
    ASSERT_TRUE(out.add("a", latin_1).finish());
    EXPECT_EQ(document::adopt(std::move(bytes))["a"].as_string(), latin_1);
    EXPECT_EQ(doc("a", unchecked_text{latin_1})["a"].as_string(), latin_1);
    EXPECT_NO_THROW((void)doc("a", doc("b", unchecked_text{latin_1})))
        << "what is BSON already is not checked again";
}

}  // namespace
}  // namespace holdfast::bson::text_check_test
