#include "core/mongo/error/errc.hpp"
#include "core/mongo/error/server_error.hpp"
#include "holdfast/bson/builder.hpp"
#include "holdfast/mongo/error.hpp"
#include "tools/holdfast/drill/worker.hpp"

#include <boost/asio/error.hpp>
#include <gtest/gtest.h>

#include <memory>
#include <optional>

namespace holdfast::drill {
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

const error unsent{core::mongo::errc::no_server, "nobody"};
const error broke{boost::asio::error::eof, "broke"};

operation bulk_of_two()
{
    operation made;
    made.what = action::bulk_write;
    made.inserted = {1};
    made.signature = 2;
    return made;
}

TEST(fate, a_bulk_write_of_which_nothing_was_done_has_failed)
{
    EXPECT_EQ(fate_of(with(ended_by(unsent, 0))), fate::failed);
    EXPECT_EQ(fate_of(with(ended_by(unsent, 1))), fate::unclear);
    EXPECT_EQ(fate_of(with(ended_by(broke, 0))), fate::unclear);
    EXPECT_EQ(fate_of(unsent), fate::failed);
    EXPECT_EQ(fate_of(broke), fate::unclear);
}

TEST(fate, every_count_says_that_something_was_done)
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

TEST(fate, what_is_not_safe_is_unclear)
{
    mongo::write_failure unsafe = ended_by(unsent, 0);
    unsafe.write_concern_errors.emplace_back().code = 64;
    EXPECT_EQ(fate_of(with(unsafe)), fate::unclear);
    operation one = bulk_of_two();
    note_parts(one, with(std::move(unsafe)));
    EXPECT_FALSE(one.end_of_inserts);
    EXPECT_FALSE(one.end_of_signature);
}

TEST(fate, a_partial_result_tells_which_part_was_done)
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

TEST(fate, of_some_of_many_nobody_says_which)
{
    operation many;
    many.what = action::insert_many;
    many.inserted = {1, 2, 3};
    note_parts(many, with(ended_by(broke, 2)));
    EXPECT_FALSE(many.end_of_inserts);
    note_parts(many, unsent);
    EXPECT_FALSE(many.end_of_inserts);
}

TEST(answer, a_deletion_that_finds_nothing_is_remembered)
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

TEST(answer, the_count_of_a_page_is_remembered)
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
}  // namespace holdfast::drill
