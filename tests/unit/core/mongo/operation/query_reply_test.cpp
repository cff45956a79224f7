#include "core/mongo/error/errc.hpp"
#include "core/mongo/operation/query.hpp"
#include "unit/core/mongo/operation/operation_fixture.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::mongo::query_reply_test {
namespace {

const char* const nothing = R"({"ok": 1, "cursor": {"id": {"$numberLong": "0"}, "ns": "sea.coll",
                               "firstBatch": []}})";

TEST(read_batch, documents_point_into_the_reply)
{
    const bson::document reply = json(R"({"cursor": {"firstBatch": [{"_id": 1}, {"_id": 2}],
        "id": {"$numberLong": "42"}, "ns": "sea.coll"}, "ok": 1})");
    const auto first = read_batch(reply);
    ASSERT_TRUE(first);
    EXPECT_EQ(first->id, 42);
    EXPECT_EQ(first->space, "sea.coll");
    EXPECT_EQ(first->count, 2);
    EXPECT_EQ(shown((*first->documents.begin()).as_document()), normal(R"({"_id": 1})"));
    EXPECT_GE(first->documents.bytes().data(), reply.bytes().data()) << "nothing is copied";
    EXPECT_LT(first->documents.bytes().data(), reply.bytes().data() + reply.size());

    const bson::document more = json(R"({"ok": 1, "cursor": {"id": 0, "ns": "sea.coll",
        "nextBatch": [{"_id": 3}]}})");
    const auto last = read_batch(more);
    ASSERT_TRUE(last);
    EXPECT_EQ(last->id, 0);
    EXPECT_EQ(last->count, 1);
}

TEST(read_batch, malformed_cursor_is_refused)
{
    const char* const table[] = {
        R"({"ok": 1})",
        R"({"ok": 1, "cursor": 1})",
        R"({"ok": 1, "cursor": {}})",
        R"({"ok": 1, "cursor": {"firstBatch": []}})",
        R"({"ok": 1, "cursor": {"id": "x", "firstBatch": []}})",
        R"({"ok": 1, "cursor": {"id": {"$numberLong": "1"}, "ns": "a.b"}})",
        R"({"ok": 1, "cursor": {"id": {"$numberLong": "1"}, "ns": "a.b", "firstBatch": {}}})",
        R"({"ok": 1, "cursor": {"id": {"$numberLong": "1"}, "ns": "a.b", "nextBatch": [{}, 1]}})",
    };
    for (const char* reply : table) {
        SCOPED_TRACE(reply);
        const bson::document received = json(reply);
        const auto read = read_batch(received);
        ASSERT_FALSE(read);
        EXPECT_EQ(read.error().code(), make_error_code(errc::malformed_message));
    }
}

TEST(read_batch, malformed_document_is_refused)
{
    bson::document reply = json(R"({"cursor": {"id": {"$numberLong": "1"}, "ns": "a.b",
        "firstBatch": [{"a": 1}, {"b": 1}]}})");
    const auto whole = read_batch(reply);
    ASSERT_TRUE(whole);
    auto second = whole->documents.begin();
    ++second;
    // The length of the second document now reaches beyond its array.
    const_cast<std::uint8_t&>(*second->value_bytes().data()) = 0x70;
    EXPECT_FALSE(read_batch(reply));
}

TEST(read_find_one, returns_the_first_document_or_none)
{
    const auto found = find_one_operation::read(
        answered(R"({"ok": 1, "cursor": {"id": {"$numberLong": "0"},
        "ns": "sea.coll", "firstBatch": [{"_id": 7}]}})"),
        {});
    ASSERT_TRUE(found.value());
    EXPECT_EQ(shown(**found), normal(R"({"_id": 7})"));
    EXPECT_FALSE(find_one_operation::read(answered(nothing), {}).value());
    EXPECT_FALSE(find_one_operation::read(answered(R"({"ok": 1})"), {}));
    EXPECT_FALSE(
        find_one_operation::read(answered(R"({"ok": 0, "code": 2, "errmsg": "bad"})"), {}));
}

TEST(read_count, reads_the_group_result_and_the_count_reply)
{
    const auto grouped = [](std::string_view batch) {
        return count_documents_operation::read(
            answered(std::string{R"({"ok": 1, "cursor": {"id": 0, "ns": "a.b", "firstBatch": )"} +
                     std::string{batch} + "}}"),
            {});
    };
    EXPECT_EQ(grouped(R"([{"_id": 1, "n": 5}])").value(), 5);
    EXPECT_EQ(grouped(R"([{"_id": 1, "n": {"$numberLong": "5000000000"}}])").value(),
              5'000'000'000);
    EXPECT_EQ(grouped("[]").value(), 0) << "nothing matches, so there is no group";
    EXPECT_FALSE(grouped(R"([{"_id": 1}])"));

    EXPECT_EQ(
        estimated_document_count_operation::read(answered(R"({"n": 5, "ok": 1})"), {}).value(), 5);
    EXPECT_EQ(estimated_document_count_operation::read(
                  answered(R"({"ok": 0, "code": 26, "errmsg": "no ns"})"), {})
                  .value(),
              0)
        << "what does not exist is empty";
    EXPECT_FALSE(estimated_document_count_operation::read(
        answered(R"({"ok": 0, "code": 8, "errmsg": "?"})"), {}));
    EXPECT_FALSE(estimated_document_count_operation::read(answered(R"({"ok": 1})"), {}));
    EXPECT_FALSE(
        count_documents_operation::read(answered(R"({"ok": 0, "code": 26, "errmsg": "?"})"), {}));
}

TEST(read_distinct, returns_values_of_any_type)
{
    const auto found = distinct_operation::read(
        answered(R"({"values": [1, "a", null, {"b": 2}], "ok": 1})"), {});
    EXPECT_EQ(bson::to_json(found.value().view()).value(), R"([1,"a",null,{"b":2}])");
    EXPECT_TRUE(
        distinct_operation::read(answered(R"({"values": [], "ok": 1})"), {}).value().empty());
    EXPECT_FALSE(distinct_operation::read(answered(R"({"values": 1, "ok": 1})"), {}));
    EXPECT_FALSE(distinct_operation::read(answered(R"({"ok": 0, "code": 2, "errmsg": "?"})"), {}));
}

}  // namespace
}  // namespace holdfast::core::mongo::query_reply_test
