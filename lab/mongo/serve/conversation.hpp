#pragma once
#include "core/mongo/wire/frame_reader.hpp"
#include "lab/mongo/fault/fail_points.hpp"
#include "lab/mongo/node/command.hpp"
#include "lab/mongo/serve/incoming.hpp"
#include "lab/mongo/serve/reply_writer.hpp"
#include "lab/mongo/serve/service.hpp"
#include "lab/serve/conversation.hpp"
#include "runtime/wait.hpp"
#include "runtime/world.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace holdfast::lab::mongo {

using lab::need;

/// One connection's exchange of messages with a service: takes messages apart, injects faults, runs
/// commands, waits for write concerns, writes replies.
class conversation : public lab::conversation {
public:
    conversation(runtime::world& in, service& with, client_facts& client) noexcept
        : world_{in}, service_{with}, client_{client}
    {
    }

    need advance(runtime::stream& to) override;

    std::span<std::uint8_t> unread() override { return reader_.writable(); }
    void received(std::size_t count) noexcept override { reader_.received(count); }

    std::uint64_t seen() const noexcept override { return seen_; }
    time_point wake_at() const noexcept override { return wake_at_; }
    void woken(runtime::wait_end end) override;

    runtime::awaitable<result<void>> answer_later() override
    {
        return service_.answer_later(*request_, reply_.body());
    }
    void answered(result<void> outcome) override;

    /// A hello that is awaited, a cursor's next document; not the acknowledgement of a write, which
    /// comes soon, nor another member's cursor, for that one's heartbeats show whether it lives.
    bool waits_long() const noexcept override
    {
        return state_ == state::answering && !client_.internal;
    }
    bool internal() const noexcept override { return client_.internal; }
    void closed() override { service_.closed(client_); }

private:
    enum class state : std::uint8_t {
        reading,
        starting,
        blocked,
        answering,
        concern,
        finishing,
        sending,
        over,
    };

    std::optional<need> read();
    void take(const core::mongo::frame& from);
    void start();
    std::optional<need> check_fault();
    std::optional<need> answer();
    void after_answer();
    std::optional<need> wait_for_concern();
    void finish();
    std::optional<need> send(runtime::stream& to);
    void sent();

    void refuse_with(const error& why);
    void add_concern_error(const error& why, bool timed_out);
    void add_concern_error(bson::view ready);
    void add_label(int code);
    need wait_until(time_point when);

    runtime::world& world_;
    service& service_;
    client_facts& client_;
    core::mongo::frame_reader reader_;
    bson::byte_buffer unpacked_;
    incoming incoming_;
    std::optional<request> request_;
    std::optional<injected_fault> fault_;
    reply_writer reply_;
    std::span<const std::uint8_t> unsent_;
    state state_ = state::reading;
    std::uint64_t seen_ = 0;
    time_point wake_at_{};
    time_point concern_until_{};
    std::int32_t replies_ = 0;
    request_id answers_{};  // the message that the next reply is the answer to
};

}  // namespace holdfast::lab::mongo
