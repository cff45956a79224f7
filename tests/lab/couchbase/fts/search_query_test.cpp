#include "lab/couchbase/fts/search_query.hpp"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include <string>

namespace holdfast::lab::couchbase::search_query_test {
namespace {

namespace json = boost::json;

const searched_document& hotel()
{
    static const searched_document made{
        "hotel_7", json::parse(R"({"name":"The Blue Inn","country":"United Kingdom","free":true,
            "rating":4.5,"code":"KLM","opened":"2020-05-01","none":null,
            "reviews":[{"text":"blue, blue sea"},{"text":"inn by the sea"}]})")};
    return made;
}

bool fits(const std::string& query)
{
    const auto read = read_search_query(json::parse(query));
    EXPECT_TRUE(read) << query << ": " << read.error().message();
    return read && match_document(*read, hotel());
}

std::string refusal(const std::string& query)
{
    const auto read = read_search_query(json::parse(query));
    return read ? std::string{} : read.error().message();
}

TEST(lab_couchbase_search_query, each_kind_fits_or_does_not)
{
    struct row {
        const char* fitting;
        const char* other;
    };
    const row rows[] = {
        {R"({"match_all":{}})", R"({"match_none":{}})"},
        {R"({"ids":["x","hotel_7"]})", R"({"ids":["hotel"]})"},
        {R"({"term":"inn","field":"name"})", R"({"term":"inn","field":"country"})"},
        {R"({"term":"KLM"})", R"({"term":"Blue"})"},
        {R"({"match":"Red BLUE","field":"name"})", R"({"match":"red","field":"name"})"},
        {R"({"match":"blue inn","operator":"and","field":"name"})",
         R"({"match":"blue red","operator":"and","field":"name"})"},
        {R"({"match":"sea","field":"reviews.text"})", R"({"match":"sea","field":"reviews"})"},
        {R"({"match_phrase":"Blue INN"})", R"({"match_phrase":"inn blue"})"},
        {R"({"terms":["united","kingdom"],"field":"country"})", R"({"terms":["kingdom","x"]})"},
        {R"({"prefix":"king"})", R"({"prefix":"ing"})"},
        {R"({"wildcard":"k*g?om"})", R"({"wildcard":"k*g?m"})"},
        {R"({"bool":true,"field":"free"})", R"({"bool":false,"field":"free"})"},
        {R"({"min":4.5,"field":"rating"})", R"({"max":4.5,"field":"rating"})"},
        {R"({"max":4.5,"inclusive_max":true})", R"({"min":4.5,"inclusive_min":false})"},
        {R"({"min":"KLL","max":"KLN","field":"code"})", R"({"max":"KLM","field":"code"})"},
        {R"({"start":"2020-01-01","end":"2021-01-01","field":"opened"})",
         R"({"end":"2020-05-01","field":"opened"})"},
        {R"({"conjuncts":[{"match":"blue"},{"match":"sea"}]})",
         R"({"conjuncts":[{"match":"blue"},{"match":"red"}]})"},
        {R"({"disjuncts":[{"match":"red"},{"match":"sea"}]})",
         R"({"disjuncts":[{"match":"red"},{"match":"sea"}],"min":2})"},
        {R"({"must":{"conjuncts":[{"match":"blue"}]},"should":{"disjuncts":[{"match":"red"}]}})",
         R"({"must_not":{"disjuncts":[{"match":"blue"}]}})"},
        {R"({"must_not":{"disjuncts":[{"match":"red"}]}})",
         R"({"should":{"disjuncts":[{"match":"red"}],"min":1}})"},
        {R"({"query":"blue"})", R"({"query":"red"})"},
    };
    for (const row& one : rows) {
        EXPECT_TRUE(fits(one.fitting)) << one.fitting;
        EXPECT_FALSE(fits(one.other)) << one.other;
    }
}

TEST(lab_couchbase_search_query, query_strings_have_fields_signs_phrases_and_ranges)
{
    for (const char* const fitting :
         {"name:blue", "red blue", "+blue +sea", "+blue red", "blue -red", R"(\"blue inn\")",
          R"(name:\"the blue\")", "rating:>4", "rating:>=4.5", "rating:<5", "king*", "country:k*m",
          "name:blue^3 red", "reviews.text:sea", "-red"})
        EXPECT_TRUE(fits(std::string{R"({"query":")"} + fitting + R"("})")) << fitting;
    for (const char* const other :
         {"name:sea", "red", "+blue +red", "blue -sea", R"(\"inn blue\")", "rating:>4.5",
          "rating:<=4", "king", "", "   ", "country:k*x", ":", "+", "-blue"})
        EXPECT_FALSE(fits(std::string{R"({"query":")"} + other + R"("})")) << other;
}

TEST(lab_couchbase_search_query, what_is_not_understood_is_refused_by_name)
{
    for (const char* const wrong :
         {R"([])", R"({})", R"({"fuzzy":"x"})", R"({"term":1})", R"({"match":{}})",
          R"({"ids":"x"})", R"({"bool":"x"})", R"({"conjuncts":{}})", R"({"disjuncts":[1]})",
          R"({"must":{}})", R"({"min":null})", R"({"start":1})", R"({"query":1})",
          R"({"min":1,"max":"x"})"})
        EXPECT_NE(refusal(wrong), "") << wrong;
    std::string many = R"({"match":"a"})";
    for (std::size_t n = 0; n != most_search_clauses; ++n)
        many += R"(,{"match":"a"})";
    EXPECT_NE(refusal(R"({"disjuncts":[)" + many + "]}").find("200"), std::string::npos);
    std::string text;
    for (std::size_t n = 0; n <= most_search_clauses; ++n)
        text += "a ";
    EXPECT_NE(refusal(R"({"query":")" + text + R"("})").find("200"), std::string::npos);
}

TEST(lab_couchbase_search_query, score_grows_with_what_fits_and_with_its_boost)
{
    const auto score = [](const std::string& query) {
        return match_document(*read_search_query(json::parse(query)), hotel())->score;
    };
    EXPECT_GT(score(R"({"match":"blue"})"), score(R"({"match":"blue","field":"name"})"));
    EXPECT_DOUBLE_EQ(score(R"({"match":"blue","boost":3})"), 3 * score(R"({"match":"blue"})"));
    EXPECT_GT(score(R"({"conjuncts":[{"match":"blue"},{"match":"inn"}]})"),
              score(R"({"match":"inn"})"));
    EXPECT_DOUBLE_EQ(score(R"({"match_all":{}})"), 1);
}

TEST(lab_couchbase_search_query, tokens_are_lower_case_and_know_their_places)
{
    const auto tokens = tokens_of("The (Blue) caf\xc3\xa9_1!");
    ASSERT_EQ(tokens.size(), 3u);
    EXPECT_EQ(tokens[1].text, "blue");
    EXPECT_EQ(tokens[1].position, 2u);
    EXPECT_EQ(tokens[1].begin, 5u);
    EXPECT_EQ(tokens[1].end, 9u);
    EXPECT_EQ(tokens[2].text, "caf\xc3\xa9_1");
    EXPECT_TRUE(tokens_of(" .,!").empty());
}

}  // namespace
}  // namespace holdfast::lab::couchbase::search_query_test
