#include "core/mongo/operation/query.hpp"
#include "holdfast/bson/builder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

/// A batch is trusted once it was read, so whatever is wrong in it must be found there.
namespace holdfast::query_batch_test {
namespace {

using bson::doc;
using core::mongo::read_batch;

bson::document reply_with(const std::vector<bson::document>& documents)
{
    bson::byte_buffer bytes;
    {
        bson::builder reply{bytes};
        auto cursor = reply.document("cursor");
        cursor.add("id", std::int64_t{1});
        auto batch = cursor.array("nextBatch");
        for (const bson::document& one : documents)
            batch.add(one.view());
    }
    return bson::document::adopt(std::move(bytes));
}

/// The same reply with another length of its document in the batch.
bool is_read_if_length_is(const bson::document& whole, bson::view inside, std::uint32_t length)
{
    std::vector<std::uint8_t> bytes{whole.view().bytes().begin(), whole.view().bytes().end()};
    const auto where = std::search(bytes.begin(), bytes.end(), inside.bytes().begin(),
                                   inside.bytes().end());
    std::memcpy(&*where, &length, sizeof length);
    return read_batch(bson::view::parse(bytes).value()).has_value();
}

TEST(query_batch, count_is_the_number_of_documents)
{
    EXPECT_EQ(read_batch(reply_with({}))->count, 0);
    EXPECT_EQ(read_batch(reply_with({bson::document{}}))->count, 1);
    EXPECT_EQ(read_batch(reply_with({doc("a", 1), doc("b", doc("c", 2)), {}}))->count, 3);
    const std::vector<bson::document> many(12'345, doc("n", 7));
    EXPECT_EQ(read_batch(reply_with(many))->count, 12'345);
}

TEST(query_batch, rejects_a_document_whose_length_is_wrong)
{
    const bson::document inside = doc("name", "coll");
    const bson::document whole = reply_with({inside});
    const auto right = static_cast<std::uint32_t>(inside.view().size());
    for (std::uint32_t length = 0; length < right + 20; ++length)
        EXPECT_EQ(is_read_if_length_is(whole, inside, length), length == right) << length;
    for (const std::uint32_t wrong : {0x7FFFFFFFU, 0x80000000U, 0xFFFFFFFFU})
        EXPECT_FALSE(is_read_if_length_is(whole, inside, wrong)) << wrong;
}

TEST(query_batch, rejects_a_document_without_terminator)
{
    const bson::document inside = doc("name", "coll");
    const bson::document whole = reply_with({inside});
    std::vector<std::uint8_t> bytes{whole.view().bytes().begin(), whole.view().bytes().end()};
    const auto where = std::search(bytes.begin(), bytes.end(), inside.bytes().begin(),
                                   inside.bytes().end());
    where[static_cast<std::ptrdiff_t>(inside.size()) - 1] = 1;
    EXPECT_FALSE(read_batch(bson::view::parse(bytes).value()));
}

TEST(query_batch, element_that_is_no_document_is_refused)
{
    const bson::document reply = doc(
        "cursor", bson::object("id", 0, "firstBatch", bson::list(bson::object("a", 1), 5)));
    EXPECT_FALSE(read_batch(reply));
}

}  // namespace
}  // namespace holdfast::query_batch_test
