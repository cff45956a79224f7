#include "core/mongo/wire/frame_reader.hpp"

#include "holdfast/bson/document.hpp"
#include "support/raw_message.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace holdfast::core::mongo::frame_reader_test {
namespace {

using sizes = std::initializer_list<std::size_t>;

using bytes = std::vector<std::uint8_t>;

bytes message_of(std::int32_t id, std::size_t text_size)
{
    return proof::raw_message{}
        .header(2013, id)
        .int32(0)
        .byte(0)
        .document(bson::doc("text", std::string(text_size, 'x')))
        .done();
}

bytes copy(std::span<const std::uint8_t> view)
{
    return {view.begin(), view.end()};
}

/// Feeds a stream in pieces as a socket might, and collects what comes out.
std::vector<bytes> read_all(frame_reader& reader, std::span<const std::uint8_t> stream,
                            std::size_t piece)
{
    std::vector<bytes> messages;
    for (;;) {
        auto next = reader.next().value();
        if (const frame* whole = std::get_if<frame>(&next)) {
            messages.push_back(copy(whole->bytes));
            continue;
        }
        if (stream.empty())
            return messages;
        const std::size_t needed = std::get<need_more>(next).bytes;
        const auto room = reader.writable();
        EXPECT_GE(room.size(), needed);
        const std::size_t count = std::min({piece, room.size(), stream.size()});
        std::copy_n(stream.begin(), count, room.begin());
        reader.received(count);
        stream = stream.subspan(count);
    }
}

TEST(next_frame, partial_input_asks_for_the_missing_bytes)
{
    const bytes whole = message_of(1, 10);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const auto answer = next_frame(std::span{whole}.first(size)).value();
        const std::size_t missing = size < 16 ? 16 - size : whole.size() - size;
        EXPECT_EQ(std::get<need_more>(answer), need_more{missing}) << size;
    }
    bytes and_more = whole;
    and_more.push_back(9);
    const auto answer = next_frame(and_more).value();
    EXPECT_EQ(copy(std::get<frame>(answer).bytes), whole);
    EXPECT_EQ(std::get<frame>(answer).header.request, request_id{1});
}

TEST(frame_reader, messages_are_independent_of_the_read_sizes)
{
    std::vector<bytes> sent;
    bytes stream;
    for (const std::size_t size : sizes{0, 1, 200, 70'000, 3, 65'536, 5, 5, 300'000, 1}) {
        sent.push_back(message_of(static_cast<std::int32_t>(sent.size()), size));
        stream.insert(stream.end(), sent.back().begin(), sent.back().end());
    }
    for (const std::size_t piece : sizes{1, 7, 16, 17, 1000, 65'536, 1'000'000}) {
        frame_reader reader;
        EXPECT_EQ(read_all(reader, stream, piece), sent) << piece;
        EXPECT_EQ(reader.pending(), 0U);
    }
}

TEST(frame_reader, small_messages_are_read_in_place)
{
    frame_reader reader;
    const bytes two[] = {message_of(1, 10), message_of(2, 20)};
    const auto room = reader.writable();
    ASSERT_EQ(room.size(), frame_reader::usual_capacity);
    std::copy(two[1].begin(), two[1].end(), std::copy(two[0].begin(), two[0].end(), room.begin()));
    reader.received(two[0].size() + two[1].size());

    const auto first = std::get<frame>(reader.next().value());
    const auto second = std::get<frame>(reader.next().value());
    EXPECT_EQ(first.bytes.data(), room.data());
    EXPECT_EQ(second.bytes.data(), room.data() + two[0].size());
    EXPECT_EQ(std::get<need_more>(reader.next().value()), need_more{16});
    EXPECT_EQ(reader.writable().data(), room.data());
    EXPECT_EQ(reader.writable().size(), frame_reader::usual_capacity);
}

TEST(frame_reader, buffer_grows_to_the_exact_message_size)
{
    frame_reader reader;
    const bytes large = message_of(1, 1'000'000);
    EXPECT_EQ(read_all(reader, large, 65'536).size(), 1U);
    EXPECT_EQ(reader.capacity(), large.size());
    reader.shrink();
    EXPECT_EQ(reader.capacity(), frame_reader::usual_capacity);
    EXPECT_EQ(read_all(reader, message_of(2, 5), 10), std::vector<bytes>{message_of(2, 5)});
}

TEST(frame_reader, shrink_keeps_pending_bytes)
{
    frame_reader reader;
    const bytes large = message_of(1, 100'000);
    const bytes small = message_of(2, 30);
    bytes stream = large;
    stream.insert(stream.end(), small.begin(), small.begin() + 20);
    EXPECT_EQ(read_all(reader, stream, 30'000).size(), 1U);
    ASSERT_EQ(reader.pending(), 20U);
    reader.shrink();
    EXPECT_EQ(reader.pending(), 20U);
    EXPECT_EQ(read_all(reader, std::span{small}.subspan(20), 100), std::vector<bytes>{small});
}

TEST(frame_reader, length_above_the_limit_is_refused_before_allocating)
{
    frame_reader reader{1000};
    const bytes head = proof::raw_message{}.int32(1001).int32(1).int32(1).int32(2013).done();
    const auto room = reader.writable();
    std::copy(head.begin(), head.end(), room.begin());
    const std::int32_t length = 1001;
    std::memcpy(room.data(), &length, 4);
    reader.received(head.size());
    EXPECT_EQ(reader.next().error().code(), errc::message_too_large);
    EXPECT_EQ(reader.next().error().code(), errc::message_too_large);
    EXPECT_EQ(reader.capacity(), frame_reader::usual_capacity);
}

}  // namespace
}  // namespace holdfast::core::mongo::frame_reader_test
