#include "core/mongo/error/errc.hpp"
#include "core/mongo/error/server_error.hpp"
#include "holdfast/bson/builder.hpp"
#include "holdfast/mongo/error.hpp"
#include "tools/holdfast/drill/mongo/outcome.hpp"

#include <boost/asio/error.hpp>
#include <gtest/gtest.h>

#include <memory>
#include <optional>

namespace holdfast::drill::fate_test {
namespace {

error with(mongo::write_failure what)
{
    return error{error_code{91, core::mongo::server_category()}, "failed"}.with_detail(
        std::make_shared<const mongo::write_failure>(std::move(what)));
}

/// A bulk write that ended by that error after so many inserts.
mongo::write_failure ended_by(error why, std::int64_t inserted)
{
    mongo::write_failure made;
    made.partial_result.emplace().inserted_count = inserted;
    made.ended_by = std::move(why);
    return made;
}

const error unsent{core::mongo::errc::no_server, "no server"};
const error broke{boost::asio::error::eof, "broke"};

operation bulk_of_two()
{
    operation made;
    made.what = action::bulk_write;
    made.inserted = {1};
    made.signature = 2;
    return made;
}

TEST(fate, bulk_write_without_any_effect_is_failed_else_unclear)
{
    EXPECT_EQ(fate_of(with(ended_by(unsent, 0))), fate::failed);
    EXPECT_EQ(fate_of(with(ended_by(unsent, 1))), fate::unclear);
    EXPECT_EQ(fate_of(with(ended_by(broke, 0))), fate::unclear);
    EXPECT_EQ(fate_of(unsent), fate::failed);
    EXPECT_EQ(fate_of(broke), fate::unclear);
}

TEST(fate, partial_result_with_any_count_is_unclear)
{
    constexpr std::int64_t mongo::bulk_write_result::* counts[] = {
        &mongo::bulk_write_result::inserted_count, &mongo::bulk_write_result::matched_count,
        &mongo::bulk_write_result::modified_count, &mongo::bulk_write_result::deleted_count,
        &mongo::bulk_write_result::upserted_count};
    for (const auto count : counts) {
        mongo::write_failure one = ended_by(unsent, 0);
        *one.partial_result.*count = 1;
        EXPECT_EQ(fate_of(with(std::move(one))), fate::unclear);
    }
}

TEST(fate, write_concern_error_is_unclear)
{
    mongo::write_failure unsafe = ended_by(unsent, 0);
    unsafe.write_concern_errors.emplace_back().code = 64;
    EXPECT_EQ(fate_of(with(unsafe)), fate::unclear);
    operation one = bulk_of_two();
    note_parts(one, with(std::move(unsafe)));
    EXPECT_FALSE(one.end_of_inserts);
    EXPECT_FALSE(one.end_of_signature);
}

TEST(fate, partial_result_gives_each_part_its_own_fate)
{
    operation half = bulk_of_two();
    note_parts(half, with(ended_by(unsent, 1)));
    EXPECT_EQ(half.end_of_inserts, fate::acknowledged);
    EXPECT_EQ(half.end_of_signature, fate::failed);
    operation doubtful = bulk_of_two();
    note_parts(doubtful, with(ended_by(broke, 1)));
    EXPECT_EQ(doubtful.end_of_inserts, fate::acknowledged);
    EXPECT_EQ(doubtful.end_of_signature, fate::unclear);
    operation nothing = bulk_of_two();
    note_parts(nothing, with(ended_by(unsent, 0)));
    EXPECT_EQ(nothing.end_of_inserts, fate::failed);
    EXPECT_EQ(nothing.end_of_signature, fate::failed);
}

TEST(fate, insert_many_with_a_partial_count_leaves_its_parts_unknown)
{
    operation many;
    many.what = action::insert_many;
    many.inserted = {1, 2, 3};
    note_parts(many, with(ended_by(broke, 2)));
    EXPECT_FALSE(many.end_of_inserts);
    note_parts(many, unsent);
    EXPECT_FALSE(many.end_of_inserts);
}

TEST(reply, delete_one_with_deleted_count_0_is_noted_unless_repeated)
{
    operation one;
    one.what = action::delete_one;
    one.removed = 7;
    note_deletion(one, 1, false);
    EXPECT_FALSE(one.found_nothing);
    note_deletion(one, 0, false);
    EXPECT_TRUE(one.found_nothing);
    EXPECT_EQ(one.removed, 7);
    note_deletion(one, 0, true);  // the application's first call may have deleted it
    EXPECT_FALSE(one.found_nothing);
}

TEST(reply, find_one_and_update_count_is_noted)
{
    operation one;
    note_count(one, std::nullopt);
    EXPECT_FALSE(one.reported_count);
    note_count(one, bson::doc("n", std::int64_t{3}));
    EXPECT_EQ(one.reported_count, 3);
    note_count(one, bson::doc("_id", "shared page 0"));
    EXPECT_EQ(one.reported_count, -1);  // no write has made that
}

}  // namespace
}  // namespace holdfast::drill::fate_test
