#include "holdfast/bson/mapping.hpp"
#include "holdfast/mongo/bulk.hpp"
#include "unit/core/mongo/operation/operation_fixture.hpp"

#include <boost/describe.hpp>
#include <gtest/gtest.h>

#include <array>
#include <string>

namespace holdfast::core::mongo::unset_id_test {

struct ticket {
    std::string owner;
    bson::object_id id;
    int seat = 0;
};
BOOST_DESCRIBE_STRUCT(ticket, (), (owner, id, seat))

}  // namespace holdfast::core::mongo::unset_id_test

template <>
inline constexpr auto holdfast::bson::mapping_of<holdfast::core::mongo::unset_id_test::ticket> =
    mapping{rename(&holdfast::core::mongo::unset_id_test::ticket::id, "_id")};

namespace holdfast::core::mongo::unset_id_test {
namespace {

const bson::object_id fresh = bson::object_id::parse("0123456789abcdef01234567").value();
const bson::object_id chosen = bson::object_id::parse("00000000000000000000000a").value();

ticket ticket_with(const bson::object_id& id)
{
    ticket made;
    made.owner = "ada";
    made.id = id;
    made.seat = 4;
    return made;
}

bson::object_id inserted_id(const result<command>& made)
{
    const bson::element documents = made.value().body.find("documents");
    return (*documents.as_array().begin()).as_document()["_id"].as_object_id();
}

TEST(unset_id, struct_with_a_zero_object_id_is_inserted_with_a_fresh_one)
{
    const ticket unset = ticket_with({});
    const auto made = built(
        a_space(), insert_one_operation{holdfast::mongo::details::stored(unset), {}}, fresh);
    EXPECT_EQ(shown(made), normal(R"({"insert": "coll", "documents": [{"_id":
        {"$oid": "0123456789abcdef01234567"}, "owner": "ada", "seat": 4}], "ordered": true})"));
    const auto done = insert_one_operation::read(answered(R"({"n": 1, "ok": 1})"), made.value());
    EXPECT_EQ(done.value().inserted_id.get<bson::object_id>().value(), fresh);
}

TEST(unset_id, id_that_is_set_is_kept)
{
    const ticket set = ticket_with(chosen);
    const auto made = built(a_space(),
                            insert_one_operation{holdfast::mongo::details::stored(set), {}}, fresh);
    EXPECT_EQ(inserted_id(made), chosen);
}

TEST(unset_id, zero_id_of_written_bson_is_kept)
{
    const auto written = bson::doc("_id", bson::object_id{});
    const auto made = built(
        a_space(), insert_one_operation{holdfast::mongo::details::stored(written), {}}, fresh);
    EXPECT_EQ(inserted_id(made), bson::object_id{});
}

TEST(unset_id, structs_among_many_writes_get_ids_as_documents_without_one)
{
    holdfast::mongo::bulk_writes work;
    work.insert_one(ticket_with({})).insert_one(ticket_with(chosen));
    const std::array<ticket, 2> range{ticket_with(chosen), ticket_with({})};
    const auto many = holdfast::mongo::details::inserts_of(range);
    EXPECT_TRUE(work.list().writes().at(0).without_id);
    EXPECT_FALSE(work.list().writes().at(1).without_id);
    EXPECT_FALSE(many.writes().at(0).without_id);
    EXPECT_TRUE(many.writes().at(1).without_id);
}

TEST(unset_id, replacement_by_a_struct_leaves_the_stored_id_alone)
{
    const ticket unset = ticket_with({});
    const auto made = built(
        a_space(), replace_one_operation{
                       json(R"({"owner": "ada"})"), holdfast::mongo::details::stored(unset), {}});
    EXPECT_EQ(shown(made).find("_id"), std::string::npos) << shown(made);
}

}  // namespace
}  // namespace holdfast::core::mongo::unset_id_test
