#pragma once
#include "core/mongo/wire/frame_reader.hpp"
#include "lab/mongo/fault/fail_points.hpp"
#include "lab/mongo/node/command.hpp"
#include "lab/mongo/serve/incoming.hpp"
#include "lab/mongo/serve/reply_writer.hpp"
#include "lab/mongo/serve/service.hpp"
#include "runtime/wait.hpp"
#include "runtime/world.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace holdfast::lab::mongo {

/// What a conversation cannot do by itself.
enum class need : std::uint8_t {
    bytes,    // read into unread(), then received()
    room,     // wait until the stream is writable
    news,     // wait for service.news() beyond seen(), until wake_at(); then woken()
    time,     // wait until wake_at(); then woken()
    later,    // await service.answer_later(), then answered()
    nothing,  // it is over: close the connection
};

/// One connection's talk with a service: takes messages apart, asks, injects faults, waits for
/// write concerns, answers. A machine without a coroutine of its own: all that can be done at once
/// is done in one call, so that an ordinary command costs no frame.
class conversation {
public:
    conversation(runtime::world& in, service& with, client_facts& who) noexcept
        : world_{in}, service_{with}, client_{who}
    {
    }

    /// Goes on as far as it can. Replies are handed to `to`.
    need advance(runtime::stream& to);

    std::span<std::uint8_t> unread() { return reader_.writable(); }
    void received(std::size_t count) noexcept { reader_.received(count); }

    std::uint64_t seen() const noexcept { return seen_; }
    time_point wake_at() const noexcept { return wake_at_; }
    void woken(runtime::wait_end end);

    request& asked() noexcept { return *request_; }
    bson::builder& reply() noexcept { return reply_.body(); }
    void answered(result<void> outcome);

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
