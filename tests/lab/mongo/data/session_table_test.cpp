#include "lab/mongo/data/session_table.hpp"

#include "holdfast/bson/json.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace holdfast::lab::mongo::session_table_test {
namespace {

session_key session(std::uint8_t number)
{
    session_key key;
    key.id.fill(number);
    return key;
}

executed_statement done(std::int32_t statement, char kind = 'i', std::uint32_t seconds = 1)
{
    executed_statement what;
    what.statement = statement;
    what.kind = kind;
    what.at = {1, {seconds, 1}};
    return what;
}

TEST(lab_session_table, remembers_statements_of_the_newest_number)
{
    session_table table;
    const session_key one = session(1);
    ASSERT_EQ(*table.check({one, 5, 0}), nullptr);
    table.record(one, 5, done(0));
    table.record(one, 5, done(3, 'u'));

    ASSERT_NE(*table.check({one, 5, 0}), nullptr);
    EXPECT_EQ((*table.check({one, 5, 0}))->kind, 'i');
    EXPECT_EQ((*table.check({one, 5, 3}))->kind, 'u');
    EXPECT_EQ(*table.check({one, 5, 1}), nullptr) << "another statement of the same command";
    EXPECT_EQ(*table.check({one, 6, 0}), nullptr);
    EXPECT_EQ(*table.check({session(2), 5, 0}), nullptr);
    session_key other_user = one;
    other_user.user.fill(9);
    EXPECT_EQ(*table.check({other_user, 5, 0}), nullptr);

    table.record(one, 6, done(2, 'd'));
    EXPECT_EQ(*table.check({one, 6, 0}), nullptr);
    ASSERT_NE(*table.check({one, 6, 2}), nullptr);
    EXPECT_EQ((*table.check({one, 6, 2}))->kind, 'd');
    EXPECT_EQ(table.size(), 1U);
}

TEST(lab_session_table, smaller_txn_number_is_too_old)
{
    session_table table;
    table.record(session(0xAB), 5, done(0));
    for (const std::int32_t statement : {0, 1}) {
        const auto checked = table.check({session(0xAB), 4, statement});
        ASSERT_FALSE(checked);
        EXPECT_EQ(checked.error().code().value(), 225);
        EXPECT_EQ(checked.error().message(),
                  "Retryable write with txnNumber 4 is prohibited on session "
                  "abababab-abab-abab-abab-abababababab - "
                  "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= -  -  because a newer retryable "
                  "write with txnNumber 5 has already started on this session.");
    }
    table.record(session(0xAB), 4, done(1));
    EXPECT_EQ(*table.check({session(0xAB), 5, 1}), nullptr) << "an old number changes nothing";
    table.forget(session(0xAB));
    EXPECT_TRUE(table.check({session(0xAB), 4, 0}));
}

TEST(lab_session_table, switched_off_it_remembers_nothing)
{
    session_table table;
    table.switch_off();
    table.record(session(1), 5, done(0));
    EXPECT_EQ(*table.check({session(1), 5, 0}), nullptr);
    EXPECT_TRUE(table.check({session(1), 4, 0}));
}

TEST(lab_session_table, forgets_the_oldest_when_there_are_too_many)
{
    session_table table;
    session_key key;
    for (std::uint32_t i = 0; i <= session_table::limit; ++i) {
        for (unsigned b = 0; b < 4; ++b)
            key.id[b] = static_cast<std::uint8_t>(i >> (8 * b));
        table.record(key, 1, done(0, 'i', i + 1));
    }
    EXPECT_LE(table.size(), session_table::limit);
    EXPECT_NE(*table.check({key, 1, 0}), nullptr) << "the newest stays";
    EXPECT_EQ(*table.check({session_key{}, 1, 0}), nullptr) << "the oldest went";
}

struct lsid_row {
    const char* text;
    int code;  // 0: fine
};

TEST(lab_session_key, lsid_of_a_command_is_parsed)
{
    const lsid_row rows[] = {
        {R"({"id": {"$uuid": "00112233-4455-6677-8899-aabbccddeeff"}})", 0},
        {R"({"id": {"$uuid": "00112233-4455-6677-8899-aabbccddeeff"},
             "uid": {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE=",
                                 "subType": "00"}}})",
         0},
        {R"({})", 40414},
        {R"({"id": 1})", 14},
        {R"({"id": {"$binary": {"base64": "AAAA", "subType": "04"}}})", 207},
        {R"({"id": {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "00"}}})", 207},
        {R"({"id": {"$uuid": "00112233-4455-6677-8899-aabbccddeeff"}, "uid": "x"})", 14},
        {R"({"id": {"$uuid": "00112233-4455-6677-8899-aabbccddeeff"}, "foo": 1})", 40415},
    };
    for (const lsid_row& row : rows) {
        const auto read = read_session_key(bson::from_json(row.text).value());
        EXPECT_EQ(read ? 0 : read.error().code().value(), row.code) << row.text;
    }
    const auto read = read_session_key(bson::from_json(rows[1].text).value());
    ASSERT_TRUE(read);
    EXPECT_EQ(read->id[1], 0x11);
    EXPECT_EQ(read->user[31], 1);
}

}  // namespace
}  // namespace holdfast::lab::mongo::session_table_test
