#include "core/couchbase/wire/frame_reader.hpp"

#include "core/couchbase/wire/frame_writer.hpp"
#include "support/octets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace holdfast::core::couchbase::frame_reader_test {
namespace {

using proof::copy_of;
using proof::octets;
using sizes = std::initializer_list<std::size_t>;

octets frame_of(std::uint32_t opaque, std::size_t value_size)
{
    bson::byte_buffer out;
    const std::string value(value_size, 'x');
    write_reply(out, {.opcode = kv_opcode::get, .opaque = opaque, .value = as_octets(value)})
        .value();
    return copy_of(out.bytes());
}

/// Feeds a stream in pieces as a socket might, and collects what comes out.
std::vector<octets> read_all(frame_reader& reader, std::span<const std::uint8_t> stream,
                             std::size_t piece)
{
    std::vector<octets> frames;
    for (;;) {
        auto next = reader.next().value();
        if (const frame* whole = std::get_if<frame>(&next)) {
            frames.push_back(copy_of(whole->bytes));
            continue;
        }
        if (stream.empty())
            return frames;
        const std::size_t needed = std::get<need_more>(next).bytes;
        const auto room = reader.writable();
        EXPECT_GE(room.size(), needed);
        const std::size_t count = std::min({piece, room.size(), stream.size()});
        std::copy_n(stream.begin(), count, room.begin());
        reader.received(count);
        stream = stream.subspan(count);
    }
}

TEST(kv_frame_reader, frames_are_independent_of_the_read_sizes)
{
    std::vector<octets> sent;
    octets stream;
    for (const std::size_t size : sizes{0, 1, 200, 70'000, 3, 65'536, 5, 5, 300'000, 1}) {
        sent.push_back(frame_of(static_cast<std::uint32_t>(sent.size()), size));
        stream.insert(stream.end(), sent.back().begin(), sent.back().end());
    }
    for (const std::size_t piece : sizes{1, 7, 24, 25, 1000, 65'536, 1'000'000}) {
        frame_reader reader;
        EXPECT_EQ(read_all(reader, stream, piece), sent) << piece;
        EXPECT_EQ(reader.pending(), 0U);
    }
}

TEST(kv_frame_reader, pipelined_frames_are_read_in_place)
{
    frame_reader reader;
    const octets two[] = {frame_of(1, 10), frame_of(2, 20)};
    const auto room = reader.writable();
    ASSERT_EQ(room.size(), frame_reader::usual_capacity);
    std::copy(two[1].begin(), two[1].end(), std::copy(two[0].begin(), two[0].end(), room.begin()));
    reader.received(two[0].size() + two[1].size());

    const auto first = std::get<frame>(reader.next().value());
    const auto second = std::get<frame>(reader.next().value());
    EXPECT_EQ(first.bytes.data(), room.data());
    EXPECT_EQ(second.bytes.data(), room.data() + two[0].size());
    EXPECT_EQ(second.header.opaque, 2U);
    EXPECT_EQ(std::get<need_more>(reader.next().value()), need_more{24});
    EXPECT_EQ(reader.writable().size(), frame_reader::usual_capacity);
}

TEST(kv_frame_reader, large_frame_grows_the_buffer_to_its_size_and_shrink_gives_it_back)
{
    frame_reader reader;
    const octets large = frame_of(1, 1'000'000);
    const octets small = frame_of(2, 5);
    EXPECT_EQ(read_all(reader, large, 65'536), std::vector<octets>(1, large));
    EXPECT_EQ(reader.capacity(), large.size());
    const auto room = reader.writable();
    std::copy_n(small.begin(), 10, room.begin());
    reader.received(10);
    reader.shrink();
    EXPECT_EQ(reader.capacity(), frame_reader::usual_capacity);
    EXPECT_EQ(reader.pending(), 10U);
    EXPECT_EQ(read_all(reader, std::span{small}.subspan(10), 100), std::vector<octets>(1, small));
}

TEST(kv_frame_reader, frame_beyond_the_limit_is_refused_without_growing)
{
    frame_reader reader{100};
    const octets large = frame_of(1, 101);
    const auto room = reader.writable();
    std::copy_n(large.begin(), 24, room.begin());
    reader.received(24);
    EXPECT_FALSE(reader.next().has_value());
    EXPECT_EQ(reader.capacity(), frame_reader::usual_capacity);
}

TEST(frame_reader, short_way_gives_whole_frames_and_leaves_all_else_to_the_long_one)
{
    frame_reader reader;
    const octets first = frame_of(1, 10);
    const octets second = frame_of(2, 5);
    frame got;
    EXPECT_FALSE(reader.next_whole(got));
    auto room = reader.writable();
    std::copy(first.begin(), first.end(), room.begin());
    std::copy_n(second.begin(), 20, room.begin() + static_cast<std::ptrdiff_t>(first.size()));
    reader.received(first.size() + 20);
    ASSERT_TRUE(reader.next_whole(got));
    EXPECT_EQ(proof::copy_of(got.bytes), first);
    EXPECT_FALSE(reader.next_whole(got)) << "half a header";
    EXPECT_EQ(std::get<need_more>(reader.next().value()).bytes, 4u);
    room = reader.writable();
    std::copy(second.begin() + 20, second.end(), room.begin());
    reader.received(second.size() - 20);
    ASSERT_TRUE(reader.next_whole(got));
    EXPECT_EQ(proof::copy_of(got.bytes), second);
    EXPECT_EQ(reader.pending(), 0u);
    room = reader.writable();
    room[0] = 0x42;
    reader.received(1);
    EXPECT_FALSE(reader.next_whole(got));
    EXPECT_FALSE(reader.next().has_value()) << "no frame begins so";
}

}  // namespace
}  // namespace holdfast::core::couchbase::frame_reader_test
