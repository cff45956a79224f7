#pragma once
#include "core/mongo/wire/compression.hpp"
#include "core/mongo/wire/message.hpp"
#include "core/mongo/wire/message_builder.hpp"
#include "holdfast/bson/json.hpp"
#include "holdfast/bson/validate.hpp"
#include "lab/mongo/serve/conversation.hpp"
#include "lab/mongo/serve/node_service.hpp"
#include "runtime/stream.hpp"
#include "support/raw_message.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab::hostile {

using bytes_view = std::span<const std::uint8_t>;

/// Takes what the server says.
class heard_stream final : public runtime::stream {
public:
    runtime::awaitable<runtime::io_result> read_some(std::span<std::uint8_t>) override
    {
        co_return runtime::io_result{};
    }
    runtime::io_result write_now(bytes_view said) override
    {
        heard.insert(heard.end(), said.begin(), said.end());
        return {{}, said.size()};
    }
    runtime::awaitable<error_code> writable() override { co_return error_code{}; }
    void expires_at(time_point) override {}
    void cancel() noexcept override {}
    std::string peer() const override { return "hostile:1"; }

    std::vector<std::uint8_t> heard;
};

/// What came of one message.
struct outcome {
    bool closed = false;
    bool waits = false;  // for longer than anybody would
    std::optional<bson::document> reply = {};  // the first, if there was any
    std::size_t replies = 0;
};

/// One connection after the other to a service, without a network. When the server waits, `pass`
/// lets time go by until then.
class talker {
public:
    using pass_time = std::function<void(time_point until)>;
    talker(runtime::world& in, mongo::service& with, pass_time pass)
        : world_{in}, service_{with}, pass_{std::move(pass)}
    {
    }
    talker(const talker&) = delete;
    talker& operator=(const talker&) = delete;
    ~talker() { hang_up(); }

    void hang_up()
    {
        if (!line_)
            return;
        service_.closed(line_->client);
        line_.reset();
    }

    outcome send(bytes_view message, std::size_t piece = 1 << 16)
    {
        if (!line_)
            dial();
        line_->stream.heard.clear();
        outcome came;
        came.closed = !feed(message, piece, came);
        read_replies(came);
        if (came.closed || came.waits || came.replies > 1)
            hang_up();
        return came;
    }

    /// An OP_MSG around the body of a command, right or wrong.
    static std::vector<std::uint8_t> message(std::string_view body, std::int32_t flags = 0)
    {
        proof::raw_message made;
        made.header(2013).int32(flags).byte(0).text(body);
        return made.done();
    }
    bson::document run(std::string_view json)
    {
        const auto command = bson::from_json(json);
        EXPECT_TRUE(command) << json;
        proof::raw_message made;
        made.header(2013).int32(0).byte(0).document(command->view());
        return send(made.done()).reply.value_or(bson::document{});
    }

    bool internal = false;  // says that it is a member, from the next connection on

private:
    struct line {
        line(runtime::world& in, mongo::service& with) : talk{in, with, client} {}
        mongo::client_facts client;
        heard_stream stream;
        mongo::conversation talk;
    };

    void dial()
    {
        line_ = std::make_unique<line>(world_, service_);
        line_->client.peer = "hostile:1";
        line_->client.connection = service_.opened();
        line_->client.internal = internal;
    }

    /// False: the server has closed the connection.
    bool feed(bytes_view message, std::size_t piece, outcome& came)
    {
        constexpr int most_steps = 100'000;
        constexpr auto timeout = std::chrono::minutes{1};
        constexpr std::size_t enough = 20;  // replies of one exhaust command
        mongo::conversation& talk = line_->talk;
        for (int steps = 0; steps < most_steps; ++steps) {
            switch (talk.advance(line_->stream)) {
            case mongo::need::bytes: {
                if (message.empty())
                    return true;
                const auto free = talk.unread();
                const std::size_t count = std::min({piece, free.size(), message.size()});
                std::memcpy(free.data(), message.data(), count);
                talk.received(count);
                message = message.subspan(count);
                break;
            }
            case mongo::need::news:
            case mongo::need::time:
                if (talk.wake_at() > world_.steady_now() + timeout || replies_heard() > enough) {
                    came.waits = true;
                    return true;
                }
                pass_(talk.wake_at());
                talk.woken(runtime::wait_end::timed_out);
                break;
            case mongo::need::writable:
            case mongo::need::later:
                ADD_FAILURE() << "a test stream is always writable, and a node answers at once";
                return false;
            case mongo::need::nothing:
                return false;
            }
        }
        ADD_FAILURE() << "it never ends";
        return false;
    }

    std::size_t replies_heard() const
    {
        std::size_t count = 0;
        for_each_reply([&](bytes_view) { ++count; });
        return count;
    }

    template <class Each>
    void for_each_reply(Each&& each) const
    {
        bytes_view left = line_->stream.heard;
        while (left.size() >= 4) {
            std::int32_t length = 0;
            std::memcpy(&length, left.data(), sizeof length);
            const auto size = static_cast<std::size_t>(length);
            ASSERT_TRUE(length >= 16 && size <= left.size() &&
                        size <= core::mongo::max_message_size)
                << length;
            each(left.first(size));
            left = left.subspan(size);
        }
        EXPECT_TRUE(left.empty());
    }

    void read_replies(outcome& came) const
    {
        for_each_reply([&](bytes_view one) {
            ++came.replies;
            bson::byte_buffer unpacked;
            if (core::mongo::parse_header(one)->code == core::mongo::op_code::compressed) {
                const auto plain = core::mongo::decompress_message(one, unpacked);
                ASSERT_TRUE(plain);
                one = *plain;
            }
            const auto message = core::mongo::parse_reply(one);
            ASSERT_TRUE(message) << message.error().message();
            bson::validation validation;
            validation.utf8 = false;
            EXPECT_TRUE(bson::validate(message->body.bytes(), validation));
            if (!came.reply)
                came.reply.emplace(message->body);
        });
    }

    runtime::world& world_;
    mongo::service& service_;
    pass_time pass_;
    std::unique_ptr<line> line_;
};

/// Whether it is an answer that every driver understands.
inline testing::AssertionResult is_answer(const bson::document& reply)
{
    const auto ok = reply.get<double>("ok");
    if (!ok || (*ok != 0 && *ok != 1))
        return testing::AssertionFailure() << "no ok";
    if (*ok == 1)
        return testing::AssertionSuccess();
    const bson::element code = reply.find("code");
    if (code.type() != bson::type::int32 || reply.find("errmsg").type() != bson::type::string)
        return testing::AssertionFailure() << "no code or message";
    if (reply.find("codeName").type() != bson::type::string ||
        reply.find("codeName").as_string().empty())
        return testing::AssertionFailure() << "no name of code " << code.as_int32();
    return testing::AssertionSuccess();
}

}  // namespace holdfast::lab::hostile
