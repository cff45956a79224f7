#include "core/mongo/wire/command_message.hpp"

#include "core/mongo/wire/message.hpp"
#include "holdfast/bson/document.hpp"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::core::mongo::command_message_test {
namespace {

command_message insert_command(const bson::document& document)
{
    bson::byte_buffer bytes = command_message::start(document.size() + 64);
    bson::builder command{bytes};
    command.add("insert", "c");
    {
        auto documents = command.array("documents");
        documents.add(document);
    }
    EXPECT_TRUE(command.finish());
    return command_message::adopt(std::move(bytes));
}

/// The message of an attempt that appends one field.
std::span<const std::uint8_t> attempt(command_message& of, request_id id, std::string_view database,
                                      message_flags flags = {})
{
    of.rewind();
    std::optional<bson::builder> fields;
    of.open(fields);
    fields->add("$db", database);
    return of.close(*fields, id, flags).value();
}

TEST(command_message, attempt_sends_the_command_with_its_own_fields_behind)
{
    command_message insert = insert_command(bson::doc("_id", 1));
    message_flags flags;
    flags.more_to_come = true;
    const auto sent = parse_message(attempt(insert, request_id{7}, "sea", flags)).value();
    EXPECT_EQ(sent.header.request, request_id{7});
    EXPECT_TRUE(sent.flags.more_to_come);
    EXPECT_EQ(bson::document{sent.body},
              bson::doc("insert", "c", "documents", bson::arr(bson::doc("_id", 1)), "$db", "sea"));
}

TEST(command_message, retry_drops_the_fields_of_the_attempt_before)
{
    command_message insert = insert_command(bson::doc("_id", 1));
    (void)attempt(insert, request_id{1}, std::string(1000, 'a'));
    const auto sent = parse_message(attempt(insert, request_id{2}, "b")).value();
    EXPECT_EQ(sent.header.request, request_id{2});
    EXPECT_EQ(bson::document{sent.body},
              bson::doc("insert", "c", "documents", bson::arr(bson::doc("_id", 1)), "$db", "b"));
    insert.rewind();
    EXPECT_FALSE(insert.find("$db"));
    EXPECT_EQ(insert.name(), "insert");
}

TEST(command_message, large_document_stays_where_the_operation_wrote_it)
{
    command_message insert = insert_command(bson::doc("text", std::string(1'000'000, 'k')));
    const std::uint8_t* const before = insert.view().data();
    const auto request = attempt(insert, request_id{1}, "sea");
    EXPECT_EQ(parse_message(request).value().body.data(), before);
}

TEST(command_message, copy_of_a_document_is_sent_as_it_is)
{
    command_message ping{bson::doc("ping", 1)};
    EXPECT_EQ(ping.name(), "ping");
    const auto sent = parse_message(attempt(ping, request_id{3}, "admin")).value();
    EXPECT_EQ(bson::document{sent.body}, bson::doc("ping", 1, "$db", "admin"));
}

TEST(command_message, empty_command_can_be_opened)
{
    command_message nothing;
    EXPECT_EQ(nothing.name(), "");
    const auto sent = parse_message(attempt(nothing, request_id{3}, "admin")).value();
    EXPECT_EQ(bson::document{sent.body}, bson::doc("$db", "admin"));
}

TEST(command_message, message_beyond_the_limit_is_refused)
{
    command_message insert = insert_command(bson::doc("text", std::string(1000, 'k')));
    std::optional<bson::builder> fields;
    insert.open(fields);
    const auto closed = insert.close(*fields, request_id{1}, {}, 500);
    ASSERT_FALSE(closed);
    EXPECT_EQ(closed.error().code(), errc::message_too_large);
}

}  // namespace
}  // namespace holdfast::core::mongo::command_message_test
