#pragma once
#include "core/couchbase/wire/frame_reader.hpp"
#include "holdfast/bson/byte_buffer.hpp"
#include "lab/couchbase/kv/exchange.hpp"
#include "lab/couchbase/serve/reply_writer.hpp"
#include "lab/serve/conversation.hpp"
#include "runtime/world.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <span>

namespace holdfast::lab::couchbase {

/// One key-value connection: takes frames apart, has the node answer them, writes replies. All that
/// has arrived is answered before anything is sent, so that pipelined requests share a write. Other
/// nodes of the cluster send their changes on such connections, too.
class kv_conversation final : public lab::conversation, public kv_session {
public:
    kv_conversation(node& with, bool secure);
    kv_conversation(const kv_conversation&) = delete;
    kv_conversation& operator=(const kv_conversation&) = delete;
    ~kv_conversation() override;

    need advance(runtime::stream& to) override;
    std::span<std::uint8_t> unread() override { return reader_.writable(); }
    void received(std::size_t count) noexcept override { reader_.received(count); }
    void set_waker(std::function<void()> waker) override { waker_ = std::move(waker); }
    time_point read_until() const noexcept override;

    std::uint64_t seen() const noexcept override { return 0; }
    time_point wake_at() const noexcept override;
    void woken(runtime::wait_end) override {}
    runtime::awaitable<result<void>> answer_later() override;
    void answered(result<void>) override {}
    bool waits_long() const noexcept override { return false; }
    bool internal() const noexcept override { return client_.peer.has_value(); }
    void closed() override;

    kv_client& client() noexcept override { return client_; }
    void announce_configuration() override;
    void wake() override;
    void close() override;

private:
    /// A request that a fault holds back. Nothing is read meanwhile, so the frame stays valid.
    struct held_request {
        core::couchbase::frame frame;
        kv_fault fault;
        time_point arrived;
        time_point until;
    };
    /// A reply that is sent later: after a durable write, or by a fault.
    struct parked_reply {
        reply_address to;
        kv_reply reply;
        kv_fault fault;
        time_point not_before;
        std::size_t overtaken_by;

        bool ready(time_point now) const noexcept;
    };

    /// These return false if the connection is to be closed.
    bool take(const core::couchbase::frame& from);
    bool carry_out(const core::couchbase::frame& from, const kv_fault* hit, time_point arrived);
    bool release_held();
    bool release_parked();
    bool deliver(const reply_address& to, const kv_reply& reply, const kv_fault& by);
    std::optional<kv_fault> fault_for(const core::couchbase::frame& from);
    time_point held_until(const kv_fault& by, time_point now);
    kv_reply answer_frame(const core::couchbase::frame& from);
    bool send(runtime::stream& to, need& blocked);
    /// Of an unusually large request or reply.
    void give_back_memory();
    void leave_node();
    bool takes_requests() const noexcept;

    node& node_;
    std::uint64_t number_;  // 0: the node does not know the connection any more
    kv_client client_;
    std::function<void()> waker_;
    core::couchbase::frame_reader reader_;
    bson::byte_buffer unpacked_;
    bson::byte_buffer out_;
    std::size_t sent_ = 0;
    std::optional<held_request> held_;
    std::list<parked_reply> parked_;
    std::uint32_t notifications_ = 0;
    std::uint64_t disk_news_seen_ = 0;
    bool announces_ = false;
    bool stopped_reading_ = false;
    bool over_ = false;
};

}  // namespace holdfast::lab::couchbase
