#pragma once
#include "lab/couchbase/http/http_service.hpp"
#include "lab/couchbase/http/request_reader.hpp"
#include "lab/serve/conversation.hpp"
#include "runtime/world.hpp"

#include <optional>
#include <string>

namespace holdfast::lab::couchbase {

/// One connection of HTTP/1.1: requests one after the other, each answered before the next is read.
class http_conversation final : public lab::conversation {
public:
    http_conversation(runtime::world& in, http_service& with);

    need advance(runtime::stream& to) override;
    std::span<std::uint8_t> unread() override { return reader_.writable(); }
    void received(std::size_t count) noexcept override { reader_.received(count); }
    time_point read_until() const noexcept override { return idle_until_; }

    std::uint64_t seen() const noexcept override { return seen_; }
    time_point wake_at() const noexcept override;
    void woken(runtime::wait_end) override {}
    runtime::awaitable<result<void>> answer_later() override;
    void answered(result<void>) override {}
    bool waits_long() const noexcept override { return more_.has_value() || later_.has_value(); }
    bool internal() const noexcept override { return false; }
    /// What a reply that goes on keeps is released while there is a service.
    void closed() override
    {
        later_.reset();
        more_.reset();
    }

private:
    /// A request that a fault holds back.
    struct held_request {
        http_request request;
        http_fault fault;
        std::optional<http_reply> scripted;
        time_point until;
    };

    /// The reply of a service that is not there yet.
    struct late_reply {
        std::function<std::optional<http_reply>()> ask;
        bool close;
        http_fault fault;
    };
    /// A reply that goes on.
    struct stream_state {
        std::function<std::optional<std::string>()> next;
        std::chrono::milliseconds pause;
        std::size_t chunk_size;
        std::function<bool()> cut;
        bool close;  // at its end
    };

    void take(http_request request);
    void reply_to(held_request what);
    void write_reply(http_reply reply, bool close, const http_fault& hit);
    bool send(runtime::stream& to, need& blocked);
    /// What to wait for, if there is nothing to be done now.
    std::optional<need> go_on();
    std::optional<need> ask_again();
    std::optional<need> read_next();
    void add(std::string_view text);

    runtime::world& world_;
    http_service& service_;
    request_reader reader_;
    std::string out_;
    std::size_t sent_ = 0;
    std::optional<held_request> held_;
    std::optional<late_reply> later_;
    std::optional<stream_state> more_;
    time_point again_at_ = runtime::never;  // for both
    std::optional<std::size_t> cut_in_;  // bytes that may still be sent
    std::uint64_t seen_ = 0;
    time_point idle_until_;
    bool over_ = false;
};

}  // namespace holdfast::lab::couchbase
