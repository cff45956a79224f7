#include "lab/couchbase/views/view_query.hpp"

#include "lab/couchbase/views/view_definitions.hpp"
#include "lab/couchbase/views/view_map.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

#include <string>

namespace holdfast::lab::couchbase::view_query_test {
namespace {

namespace json = boost::json;

/// Key and value that a map function makes of a document.
std::string emitted(const std::string& function)
{
    const auto map = read_view_map(function);
    EXPECT_TRUE(map) << function;
    const json::value document = json::parse(R"({"a":{"b":[1,2]},"s":"x"})");
    return map ? json::serialize(value_of(map->key, "id1", document)) + " " +
                     json::serialize(value_of(map->value, "id1", document))
               : std::string{};
}

TEST(lab_couchbase_view_map, emits_constants_the_id_and_parts_of_the_document)
{
    EXPECT_EQ(emitted("function (doc, meta) { emit(meta.id, null); }"), R"("id1" null)");
    EXPECT_EQ(emitted("function (doc, meta) {\n  emit(meta.id, null)\n}"), R"("id1" null)");
    EXPECT_EQ(emitted("function map(d,m){emit([d.s,m.id,1.5,'y'],d.a.b);}"),
              R"(["x","id1",1.5E0,"y"] [1,2])");
    EXPECT_EQ(emitted("(doc, meta) => { emit(doc.a, true) }"), R"({"b":[1,2]} true)");
    EXPECT_EQ(emitted("function (doc) { emit(doc.none.x); }"), "null null");
    EXPECT_EQ(emitted("function (doc, meta) { emit([], \"\"); };"), R"([] "")");
}

TEST(lab_couchbase_view_map, other_functions_are_refused)
{
    std::string deep = "function (doc, meta) { emit(";
    for (int n = 0; n != 9; ++n)
        deep += '[';
    for (const std::string& wrong :
         {std::string{}, std::string{"function"}, std::string{"function (doc, meta) { }"},
          std::string{"function (doc, meta) { if (doc.a) emit(doc.a, null); }"},
          std::string{"function (doc, meta) { emit(meta.type, null); }"},
          std::string{"function (doc, meta) { emit(other.id, null); }"},
          std::string{"function (doc, meta) { emit(doc..a, null); }"},
          std::string{"function (doc, meta) { emit(doc.a null); }"},
          std::string{"function (doc, meta) { emit('a\\'', null); }"},
          std::string{"function (doc, meta) { emit({}, null); }"},
          std::string{"function (doc, meta) { emit(1, 2); } x"}, deep})
        EXPECT_FALSE(read_view_map(wrong)) << wrong;
}

TEST(lab_couchbase_view_keys, kinds_have_their_order)
{
    const json::value keys = json::parse(
        R"([null,false,true,-1,0.5,1,"","a","b",[],[1],[1,null],[2],{},{"a":1},{"a":2},{"b":0}])");
    for (std::size_t a = 0; a != keys.as_array().size(); ++a) {
        for (std::size_t b = 0; b != keys.as_array().size(); ++b)
            EXPECT_EQ(compare_keys(keys.at(a), keys.at(b)) < 0, a < b) << a << " " << b;
        EXPECT_TRUE(compare_keys(keys.at(a), keys.at(a)) == 0) << a;
    }
}

/// Ids, or keys and values of what is reduced, of rows with the keys 1 to 5.
std::string rows(const std::string& query, view_reduce reduce = view_reduce::none,
                 const std::string& body = {})
{
    const auto read = read_view_query(*read_form(query), body);
    EXPECT_TRUE(read) << query << ": " << read.error().message();
    std::vector<view_row> all;
    for (const char* const id : {"e5", "a1", "c3", "b2", "d4", "x3"})
        all.push_back({id, id[1] - '0', id[1] - '0'});
    const json::object reply = view_reply(*read, reduce, std::move(all));
    EXPECT_EQ(reply.contains("total_rows"), reduce == view_reduce::none || !read->reduce);
    std::string text;
    for (const json::value& one : reply.at("rows").as_array()) {
        const json::value* const id = one.as_object().if_contains("id");
        text += id ? std::string{id->as_string()}
                   : json::serialize(one.at("key")) + "=" + json::serialize(one.at("value"));
        text += " ";
    }
    return text;
}

TEST(lab_couchbase_view_query, rows_are_chosen_and_ordered_by_their_keys)
{
    EXPECT_EQ(rows(""), "a1 b2 c3 x3 d4 e5 ");
    EXPECT_EQ(rows("descending=true"), "e5 d4 x3 c3 b2 a1 ");
    EXPECT_EQ(rows("skip=1&limit=2"), "b2 c3 ");
    EXPECT_EQ(rows("limit=0"), "");
    EXPECT_EQ(rows("skip=9"), "");
    EXPECT_EQ(rows("key=3"), "c3 x3 ");
    EXPECT_EQ(rows("keys=%5B4,9,1%5D"), "d4 a1 ");
    EXPECT_EQ(rows("", view_reduce::none, R"({"keys":[3,1]})"), "c3 x3 a1 ");
    EXPECT_EQ(rows("startkey=2&endkey=4"), "b2 c3 x3 d4 ");
    EXPECT_EQ(rows("start_key=2&end_key=4&inclusive_end=false"), "b2 c3 x3 ");
    EXPECT_EQ(rows("startkey=4&endkey=2&descending=true"), "d4 x3 c3 b2 ");
    EXPECT_EQ(rows("startkey=3&startkey_docid=x"), "x3 d4 e5 ");
    EXPECT_EQ(rows("endkey=3&endkey_docid=c3"), "a1 b2 c3 ");
    EXPECT_EQ(rows("endkey=3&endkey_docid=c3&inclusive_end=false"), "a1 b2 ");
    EXPECT_EQ(rows("startkey=5&endkey=2"), "");
    EXPECT_EQ(rows("stale=ok&full_set=true&unknown=1"), "a1 b2 c3 x3 d4 e5 ");
}

TEST(lab_couchbase_view_query, rows_are_reduced_in_groups)
{
    EXPECT_EQ(rows("", view_reduce::count), "null=6 ");
    EXPECT_EQ(rows("", view_reduce::sum), "null=1.8E1 ");
    EXPECT_EQ(rows("startkey=9", view_reduce::count), "");
    EXPECT_EQ(rows("group=true&startkey=3", view_reduce::count), "3=2 4=1 5=1 ");
    EXPECT_EQ(rows("group=true&limit=1", view_reduce::count), "1=1 ");
    EXPECT_EQ(rows("reduce=false&limit=1", view_reduce::count), "a1 ");
    EXPECT_EQ(rows("key=3", view_reduce::stats),
              R"(null={"sum":6E0,"count":2,"min":3E0,"max":3E0,"sumsqr":1.8E1} )");
}

TEST(lab_couchbase_view_query, keys_that_are_lists_are_grouped_by_their_begin)
{
    const auto read = read_view_query(*read_form("group_level=1"), "");
    std::vector<view_row> all;
    for (const char* const key : {R"(["a",1])", R"(["a",2])", R"(["b",1])", R"("c")"})
        all.push_back({key, json::parse(key), nullptr});
    EXPECT_EQ(json::serialize(view_reply(*read, view_reduce::count, all).at("rows")),
              R"([{"key":"c","value":1},{"key":["a"],"value":2},{"key":["b"],"value":1}])");
}

TEST(lab_couchbase_view_query, wrong_parameters_are_refused_by_name)
{
    for (const char* const wrong :
         {"skip=x", "limit=-1", "descending=1", "inclusive_end=no", "reduce=", "group=2",
          "group_level=x", "stale=maybe", "on_error=ignore", "key={", "keys=1", "startkey=x",
          "endkey=["}) {
        const auto read = read_view_query(*read_form(wrong), "");
        ASSERT_FALSE(read) << wrong;
        const std::string name{wrong, std::string{wrong}.find('=')};
        EXPECT_NE(read.error().message().find(name), std::string::npos) << wrong;
    }
    EXPECT_FALSE(read_view_query({}, "["));
    EXPECT_FALSE(read_view_query({}, R"({"keys":1})"));
}

TEST(lab_couchbase_design_documents, are_read_whole_or_refused)
{
    const auto read = read_design_document(
        R"({"views":{"v":{"map":"function (d, m) { emit(m.id, 1); }","reduce":"_sum"}}})");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->views.at("v").reduce, view_reduce::sum);
    EXPECT_TRUE(read_design_document("{}")->views.empty());
    for (const char* const wrong :
         {"", "[]", R"({"views":1})", R"({"views":{"v":{}}})", R"({"views":{"v":{"map":1}}})",
          R"({"views":{"v":{"map":"function (d, m) { emit(m.id, 1); }","reduce":"sum"}}})"})
        EXPECT_FALSE(read_design_document(wrong)) << wrong;
}

}  // namespace
}  // namespace holdfast::lab::couchbase::view_query_test
