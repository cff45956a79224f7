#include "lab/couchbase/serve/kv_link.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

namespace holdfast::lab::couchbase::hostile_test {
namespace {

using namespace std::chrono_literals;

class lab_couchbase_hostile : public kv_nodes {
protected:
    std::uint32_t draw(std::uint32_t below)
    {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        return static_cast<std::uint32_t>(state >> 33U) % below;
    }

    /// Bytes that may be anything, or a part of what requests are made of.
    std::string piece()
    {
        static const char* const parts[] = {"{}",
                                            "[1,2]",
                                            "a",
                                            "a.b[0]",
                                            "{\"a\":{\"b\":[1]}}",
                                            "-1",
                                            "\"x\"",
                                            "`a",
                                            "travel",
                                            "s.c",
                                            "$document.CAS",
                                            "n,,n=ada,r=x",
                                            "c=biws,r=x,p=",
                                            "[-1]"};
        std::string made;
        if (draw(3) != 0)
            return parts[draw(std::size(parts))];
        for (std::uint32_t n = draw(30); n != 0; --n)
            made += static_cast<char>(draw(256));
        return made;
    }

    /// Specs of subdocument requests, of which some are whole.
    std::string specs(bool mutation)
    {
        static const std::uint8_t opcodes[] = {0x00, 0x01, 0x04, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca,
                                               0xcb, 0xcc, 0xcd, 0xce, 0xcf, 0xd2, 0xd3, 0x77};
        std::string made;
        for (std::uint32_t n = draw(4); n != 0; --n) {
            const std::string path = piece();
            const std::string value = mutation ? piece() : "";
            made += static_cast<char>(opcodes[draw(std::size(opcodes))]);
            made += static_cast<char>(draw(2) == 0 ? 0 : draw(32));
            made += std::string(1, '\0') + static_cast<char>(path.size());
            if (mutation)
                made += std::string(3, '\0') + static_cast<char>(value.size());
            made += path + value;
        }
        return draw(10) == 0 ? made.substr(0, made.size() / 2) : made;
    }

    sent_request request(std::uint16_t mine)
    {
        static const std::uint8_t extras[] = {0, 1, 4, 5, 8, 16, 20};
        sent_request made{.opcode = kv_opcode{static_cast<std::uint8_t>(draw(256))}};
        if (draw(2) == 0)
            made.opcode = draw(2) == 0 ? kv_opcode::subdoc_multi_mutation
                                       : kv_opcode::subdoc_multi_lookup;
        const bool mutation = made.opcode == kv_opcode::subdoc_multi_mutation;
        const bool subdoc = mutation || made.opcode == kv_opcode::subdoc_multi_lookup;
        made.key = draw(3) == 0 ? piece() : "k";
        made.collection = draw(20) == 0 ? draw(300) : 0;
        made.value = subdoc ? specs(mutation) : draw(2) == 0 ? piece() : "";
        made.extras = std::string(draw(2) == 0 ? 0 : extras[draw(std::size(extras))], '\0');
        for (char& one : made.extras)
            one = static_cast<char>(draw(4) == 0 ? draw(64) : 0);
        made.vbucket = draw(8) == 0 ? static_cast<std::uint16_t>(draw(2000)) : mine;
        made.cas = draw(4) == 0 ? draw(9) : 0;
        made.datatype = kv_datatype{static_cast<std::uint8_t>(draw(12) == 0 ? draw(256) : 0)};
        return made;
    }

    std::uint64_t state = 42;
};

TEST_F(lab_couchbase_hostile, every_drawn_request_gets_a_reply_and_harms_nothing)
{
    const std::uint16_t mine = first.buckets.at("travel").vbuckets.begin()->first;
    std::map<kv_status, int> seen;
    for (std::uint32_t n = 0; n != 20'000; ++n) {
        const kv_client& state_there = link.talk.client();
        if (state_there.bucket.empty() || !state_there.has(kv_feature::collections))
            bootstrap(link);
        if (n % 10 == 0)
            link.write({.opcode = kv_opcode::upsert,
                        .key = "k",
                        .value = R"({"a":{"b":[1]},"n":1})",
                        .extras = std::string(8, '\0'),
                        .vbucket = mine,
                        .collection = 0},
                       n);
        net.run_for(1s);  // locks end
        link.write(request(mine), n);
        ASSERT_EQ(link.flush(), need::bytes) << n;
        const auto all = link.replies();
        ASSERT_GE(all.size(), n % 10 == 0 ? 2u : 1u) << n;
        ASSERT_EQ(all.back().opaque, n);
        ++seen[all.back().status];
    }
    EXPECT_GT(seen[kv_status::success], 100);
    EXPECT_GT(seen.size(), 15u);  // nor is everything refused for one reason
    for (const auto& [key, one] : std::as_const(first.buckets.at("travel").vbuckets))
        EXPECT_LE(one.documents(), 1000u);
}

TEST_F(lab_couchbase_hostile, drawn_bytes_end_the_connection_or_are_answered)
{
    for (int round = 0; round != 2000; ++round) {
        kv_link one{first};
        std::string bytes;
        for (std::uint32_t n = draw(200); n != 0; --n)
            bytes += static_cast<char>(draw(256));
        if (!bytes.empty() && draw(2) == 0)
            bytes[0] = '\x80';
        std::copy(bytes.begin(), bytes.end(), one.out.grow(bytes.size()));
        const need next = one.flush();
        EXPECT_TRUE(next == need::bytes || next == need::nothing);
    }
}

}  // namespace
}  // namespace holdfast::lab::couchbase::hostile_test
