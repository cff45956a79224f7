#pragma once
#include "core/couchbase/wire/frame_reader.hpp"
#include "core/couchbase/wire/frame_writer.hpp"
#include "core/sasl/scram.hpp"
#include "lab/couchbase/kv/node.hpp"
#include "lab/couchbase/serve/kv_conversation.hpp"
#include "sim/simulation.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab::couchbase {

/// A stream that keeps what is written to it, and takes only so many bytes at a time.
class kept_stream final : public runtime::stream {
public:
    std::vector<std::uint8_t> written;
    std::size_t room = std::size_t(-1);

    runtime::awaitable<runtime::io_result> read_some(std::span<std::uint8_t>) override
    {
        co_return runtime::io_result{};
    }
    runtime::io_result write_now(std::span<const std::uint8_t> bytes) override
    {
        const std::size_t count = std::min(bytes.size(), room);
        if (count == 0)
            return {make_error_code(boost::system::errc::operation_would_block), 0};
        written.insert(written.end(), bytes.begin(), bytes.begin() + static_cast<long>(count));
        room -= room == std::size_t(-1) ? 0 : count;
        return {{}, count};
    }
    runtime::awaitable<error_code> writable() override { co_return error_code{}; }
    void expires_at(time_point) override {}
    void cancel() noexcept override {}
    std::string peer() const override { return "test"; }
};

/// A reply, copied out of the bytes.
struct got_reply {
    kv_status status = kv_status::internal;
    std::uint64_t cas = 0;
    std::uint32_t opaque = 0;
    kv_datatype datatype = kv_datatype::raw;
    std::string extras = {};
    std::string key = {};
    std::string value = {};
    bool has_duration = false;
};

/// What is sent; the rest is as in a frame.
struct sent_request {
    kv_opcode opcode = kv_opcode::noop;
    std::string key = {};
    std::string value = {};
    std::string extras = {};
    std::uint64_t cas = 0;
    std::uint16_t vbucket = 0;
    std::optional<std::uint32_t> collection = {};
    core::couchbase::request_infos infos = {};
    kv_datatype datatype = kv_datatype::raw;
    bool may_compress = false;
};

/// One connection to a node, without a network between.
class kv_link {
public:
    explicit kv_link(node& with, bool secure = false) : talk{with, secure} {}

    void write(const sent_request& one, std::uint32_t opaque)
    {
        core::couchbase::request_frame frame;
        frame.opcode = one.opcode;
        frame.opaque = opaque;
        frame.vbucket = one.vbucket;
        frame.cas = one.cas;
        frame.datatype = one.datatype;
        frame.may_compress = one.may_compress;
        frame.infos = one.infos;
        frame.extras = core::couchbase::as_octets(one.extras);
        frame.collection = one.collection;
        frame.key = one.key;
        frame.value = core::couchbase::as_octets(one.value);
        EXPECT_TRUE(core::couchbase::write_request(out, frame));
    }

    /// Hands over what was written; gives what the conversation needs next.
    need flush()
    {
        std::span<const std::uint8_t> rest = out.bytes();
        need next = talk.advance(to);
        while (!rest.empty() && next == need::bytes) {
            const auto into = talk.unread();
            const std::size_t count = std::min(into.size(), rest.size());
            std::copy_n(rest.begin(), count, into.begin());
            rest = rest.subspan(count);
            talk.received(count);
            next = talk.advance(to);
        }
        out.clear();
        return next;
    }

    std::vector<got_reply> replies()
    {
        std::vector<got_reply> all;
        std::span<const std::uint8_t> rest = to.written;
        for (;;) {
            const auto next = core::couchbase::next_frame(rest);
            const auto* const one = next ? std::get_if<core::couchbase::frame>(&*next) : nullptr;
            if (!one)
                break;
            using core::couchbase::as_text;
            got_reply got{one->status(), one->header.cas, one->header.opaque, one->header.datatype};
            got.extras = as_text(one->extras());
            got.key = as_text(one->key());
            got.value = as_text(one->value());
            got.has_duration = !one->framing().empty();
            all.push_back(std::move(got));
            rest = rest.subspan(one->bytes.size());
        }
        to.written.clear();
        return all;
    }

    got_reply ask(const sent_request& one)
    {
        write(one, 7);
        last_need = flush();
        const auto all = replies();
        return all.empty() ? got_reply{} : all.front();
    }

    got_reply hello(std::initializer_list<unsigned> features)
    {
        sent_request one{.opcode = kv_opcode::hello, .key = "test"};
        for (const unsigned number : features) {
            one.value += static_cast<char>(number >> 8U);
            one.value += static_cast<char>(number & 0xffU);
        }
        return ask(one);
    }

    /// The status of the last step.
    kv_status log_in(std::string mechanism, scram_hash hash, std::string_view password)
    {
        using core::sasl::scram_exchange;
        auto client = scram_exchange::start(hash, "ada", secret{password}, "nonce");
        const auto first = ask(
            {.opcode = kv_opcode::sasl_auth, .key = mechanism, .value = client->first_message()});
        if (first.status != kv_status::auth_continue)
            return first.status;
        const auto last = ask({.opcode = kv_opcode::sasl_step,
                               .key = mechanism,
                               .value = client->answer(first.value).value()});
        if (last.status == kv_status::success) {
            EXPECT_TRUE(client->check(last.value));
        }
        return last.status;
    }

    kept_stream to;
    kv_conversation talk;
    bson::byte_buffer out;
    need last_need = need::bytes;
};

/// Two nodes with a bucket between them, as a test wants them, and a connection to the first.
class kv_nodes : public testing::Test {
protected:
    kv_nodes()
    {
        const std::vector<int> both{0, 1};
        cluster_members members;
        members.revision = {1, 5};
        members.nodes = {{0, "one", {{"kv", 1001}}}, {1, "two", {{"kv", 1002}}}};
        const bucket_layout layout{"travel", "u", 0, balance(both, {}), "0"};
        std::uint64_t drawn = 100;
        for (node* const one : {&first, &second}) {
            one->members = members;
            one->users.emplace("ada", make_account(one->world, "lovelace").value());
            one->known_buckets = {"travel", "elsewhere"};
            adopt_layout(one->buckets["travel"], one->id, layout, [&] { return ++drawn; });
        }
    }

    /// Features as a modern client asks for them, login and bucket.
    void bootstrap(kv_link& by)
    {
        by.hello({0x03, 0x04, 0x06, 0x07, 0x08, 0x0a, 0x0b, 0x0f, 0x10, 0x11, 0x12, 0x14, 0x1e});
        EXPECT_EQ(by.log_in("SCRAM-SHA512", scram_hash::sha_512, "lovelace"), kv_status::success);
        EXPECT_EQ(by.ask({.opcode = kv_opcode::select_bucket, .key = "travel"}).status,
                  kv_status::success);
    }

    sim::simulation net{1};
    sim::host& there = net.add_host("server");
    node first{there.world(), 0, {}};
    node second{there.world(), 1, {}};
    kv_link link{first};
};

}  // namespace holdfast::lab::couchbase
