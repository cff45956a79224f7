#include "lab/couchbase/fts/search_run.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

#include <string>

namespace holdfast::lab::couchbase::search_run_test {
namespace {

namespace json = boost::json;

/// Searches five places.
json::object search(const std::string& request)
{
    const auto read = read_search_request(json::parse(request));
    EXPECT_TRUE(read) << request << ": " << read.error().message();
    search_run run{*read, "p"};
    const char* const places[] = {
        R"({"name":"old mill","city":"Delft","stars":3,"v":[0,0]})",
        R"({"name":"old town","city":"Ghent","stars":5,"v":[1,0],"built":"1900-01-01"})",
        R"({"name":"new mill","city":"Delft","stars":4,"v":[0,3]})",
        R"({"name":"sea","city":["Ghent","Gouda"],"v":[0]})",
        R"({"name":"old old mill mill","city":null,"stars":3,"v":"x"})",
    };
    for (std::size_t n = 0; n != std::size(places); ++n)
        run.add({"p" + std::to_string(n), json::parse(places[n])});
    return run.finish();
}

/// The ids of the hits.
std::string ids(const std::string& request)
{
    std::string text;
    const json::object found = search(request);
    for (const json::value& one : found.at("hits").as_array())
        text += std::string{one.at("id").as_string()} + " ";
    return text;
}

std::string refusal(const std::string& request)
{
    const auto read = read_search_request(json::parse(request));
    return read ? std::string{} : read.error().message();
}

TEST(lab_couchbase_search, hits_are_sorted_by_score_id_and_fields)
{
    EXPECT_EQ(ids(R"({"query":{"match":"old mill"}})"), "p4 p0 p1 p2 ");
    EXPECT_EQ(ids(R"({"query":{"match":"old mill"},"sort":["_id"]})"), "p0 p1 p2 p4 ");
    EXPECT_EQ(ids(R"({"query":{"match":"old mill"},"sort":["-_id"]})"), "p4 p2 p1 p0 ");
    EXPECT_EQ(ids(R"({"query":{"match_all":{}},"sort":["stars","-name"]})"), "p4 p0 p2 p1 p3 ");
    EXPECT_EQ(ids(R"({"query":{"match_all":{}},"sort":["-stars","_id"]})"), "p1 p2 p0 p4 p3 ");
    EXPECT_EQ(ids(R"({"query":{"match_all":{}},"sort":[{"by":"field","field":"city","desc":true},
                      {"by":"id","desc":true}]})"),
              "p3 p1 p2 p0 p4 ");
    EXPECT_EQ(ids(R"({"query":{"match":"sea old"},"sort":[{"by":"score"}]})"), "p0 p1 p3 p4 ");
}

TEST(lab_couchbase_search, window_has_a_size_and_a_begin)
{
    EXPECT_EQ(ids(R"({"query":{"match_all":{}},"sort":["_id"],"size":2,"from":1})"), "p1 p2 ");
    EXPECT_EQ(ids(R"({"query":{"match_all":{}},"sort":["_id"],"limit":2,"offset":4})"), "p4 ");
    const json::object none = search(R"({"query":{"match_all":{}},"size":0})");
    EXPECT_TRUE(none.at("hits").as_array().empty());
    EXPECT_EQ(none.at("total_hits").to_number<int>(), 5);
    EXPECT_EQ(none.at("max_score").to_number<double>(), 1);
    EXPECT_TRUE(none.at("facets").is_null());
}

TEST(lab_couchbase_search, hit_has_its_fields_places_fragments_and_sort)
{
    const json::object found = search(
        R"({"query":{"match":"old","field":"name"},"size":1,"fields":["*"],"explain":true,
            "includeLocations":true,"highlight":{"style":"html","fields":["name"]}})");
    const json::object& hit = found.at("hits").at(0).as_object();
    EXPECT_EQ(hit.at("index"), "p");
    EXPECT_EQ(hit.at("id"), "p4");
    EXPECT_EQ(hit.at("sort"), json::array{"_score"});
    EXPECT_EQ(hit.at("fields"), json::parse(R"({"name":"old old mill mill","stars":3,"v":"x"})"));
    EXPECT_EQ(hit.at("fragments"),
              json::parse(R"({"name":["<mark>old</mark> <mark>old</mark> mill mill"]})"));
    EXPECT_EQ(hit.at("locations").at("name").at("old").at(1),
              json::parse(R"({"pos":2,"start":4,"end":7,"array_positions":null})"));
    EXPECT_EQ(hit.at("explanation").at("value"), hit.at("score"));
    const json::object listed = search(
        R"({"query":{"match":"gouda"},"fields":["city"],"includeLocations":true,
            "highlight":{"style":"ansi"}})");
    const json::object& other = listed.at("hits").at(0).as_object();
    EXPECT_EQ(other.at("fields"), json::parse(R"({"city":["Ghent","Gouda"]})"));
    EXPECT_EQ(other.at("locations").at("city").at("gouda").at(0).at("array_positions"),
              json::array{1});
    EXPECT_EQ(other.at("fragments").at("city").at(0), "\x1b[43mGouda\x1b[0m");
    EXPECT_EQ(search(R"({"query":{"match":"sea"},"score":"none"})").at("max_score"), 0.0);
}

TEST(lab_couchbase_search, facets_count_terms_numbers_and_dates)
{
    const json::object found = search(R"({"query":{"match_all":{}},"size":0,"facets":{
        "cities":{"field":"city","size":2},
        "stars":{"field":"stars","size":5,"numeric_ranges":[{"name":"low","max":4},
            {"name":"high","min":4,"max":9}]},
        "age":{"field":"built","size":5,"date_ranges":[{"name":"old","end":"1950-01-01"},
            {"name":"new","start":"1950-01-01"}]}}})");
    const json::value& facets = found.at("facets");
    EXPECT_EQ(facets.at("cities"),
              json::parse(R"({"field":"city","total":5,"missing":1,"other":1,"terms":[
                  {"term":"delft","count":2},{"term":"ghent","count":2}]})"));
    EXPECT_EQ(facets.at("stars"),
              json::parse(R"({"field":"stars","total":4,"missing":1,"other":0,"numeric_ranges":[
                  {"name":"low","max":4.0,"count":2},
                  {"name":"high","min":4.0,"max":9.0,"count":2}]})"));
    EXPECT_EQ(facets.at("age").at("date_ranges").at(0),
              json::parse(R"({"name":"old","end":"1950-01-01","count":1})"));
    EXPECT_EQ(facets.at("age").at("missing").to_number<int>(), 4);
}

TEST(lab_couchbase_search, nearest_vectors_are_found_alone_with_and_beside_a_query)
{
    EXPECT_EQ(ids(R"({"query":{"match_none":{}},"knn":[{"field":"v","vector":[0,1],"k":2}]})"),
              "p0 p1 ");
    EXPECT_EQ(ids(R"({"knn":[{"field":"v","vector":[0,3],"k":1}]})"), "p2 ");
    EXPECT_EQ(ids(R"({"query":{"match":"sea"},"knn":[{"field":"v","vector":[0,3],"k":1}]})"),
              "p2 p3 ");
    EXPECT_EQ(ids(R"({"query":{"match":"town"},"knn":[{"field":"v","vector":[0,1],"k":2}],
                      "knn_operator":"and"})"),
              "p1 ");
    // 0 and 3 as numbers of four bytes
    EXPECT_EQ(ids(R"({"knn":[{"field":"v","vector_base64":"AAAAAAAAQEA=","k":1}]})"), "p2 ");
    EXPECT_EQ(ids(R"({"knn":[{"field":"v","vector":[0,3,0],"k":9}]})"), "");
}

TEST(lab_couchbase_search, request_that_makes_no_sense_is_refused)
{
    for (const char* const wrong :
         {R"([])",
          R"({})",
          R"({"query":{}})",
          R"({"query":{"match_all":{}},"size":-1})",
          R"({"query":{"match_all":{}},"size":10001})",
          R"({"query":{"match_all":{}},"size":6000,"from":6000})",
          R"({"query":{"match_all":{}},"sort":"x"})",
          R"({"query":{"match_all":{}},"sort":[{"by":"place"}]})",
          R"({"query":{"match_all":{}},"facets":[]})",
          R"({"query":{"match_all":{}},"facets":{"a":1}})",
          R"({"query":{"match_all":{}},"fields":"x"})",
          R"({"knn":{}})",
          R"({"knn":[{"field":"v","vector":[],"k":1}]})",
          R"({"knn":[{"field":"v","vector":["x"],"k":1}]})",
          R"({"knn":[{"field":"v","vector":[1],"k":0}]})",
          R"({"knn":[{"field":"v","vector_base64":"AAA","k":1}]})",
          R"({"query":{"match_all":{}},"ctl":1})",
          R"({"query":{"match_all":{}},"ctl":{"timeout":-1}})",
          R"({"query":{"match_all":{}},"ctl":{"consistency":{"level":"soon"}}})",
          R"({"query":{"match_all":{}},"ctl":{"consistency":{"level":"at_plus",
              "vectors":{"i":{"x/1":2}}}}})",
          R"({"query":{"match_all":{}},"ctl":{"consistency":{"level":"at_plus",
              "vectors":{"i":{"1024/1":2}}}}})"})
        EXPECT_NE(refusal(wrong), "") << wrong;
}

TEST(lab_couchbase_search, consistency_is_read_by_index_and_vbucket)
{
    const auto read = read_search_request(json::parse(
        R"({"query":{"match_all":{}},"ctl":{"timeout":500,"consistency":{"level":"at_plus",
            "vectors":{"i":{"12/18446744073709551615":7,"13":8}}}}})"));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->timeout, std::chrono::milliseconds{500});
    const auto& wanted = read->consistency.at("i");
    ASSERT_EQ(wanted.size(), 2u);
    EXPECT_EQ(wanted[0].vbucket, 12);
    EXPECT_EQ(wanted[0].uuid, 18446744073709551615U);
    EXPECT_EQ(wanted[0].seqno, 7u);
    EXPECT_EQ(wanted[1].uuid, 0u);
}

}  // namespace
}  // namespace holdfast::lab::couchbase::search_run_test
