#pragma once
#include "shell/mongo/execute/client_state.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace holdfast::shell::mongo {

/// The session of one operation that was given none. Taken when a server is there to use it, kept
/// over all attempts, and given back at the end.
class implicit_session {
public:
    implicit_session() = default;
    implicit_session(implicit_session&& other) noexcept
        : client_{std::move(other.client_)},
          timeout_{other.timeout_},
          last_seen_{other.last_seen_},
          session_{std::exchange(other.session_, std::nullopt)}
    {
    }
    implicit_session& operator=(implicit_session&&) = delete;
    ~implicit_session()
    {
        if (session_)
            client_->sessions.give_back(*std::move(session_), timeout_, last_seen_);
    }

    void take(std::shared_ptr<client_state> from, std::optional<std::int32_t> timeout_minutes,
              time_point now)
    {
        client_ = std::move(from);
        timeout_ = timeout_minutes;
        last_seen_ = now;
        session_ = client_->sessions.take(timeout_minutes, now);
    }

    /// The server has heard of it.
    void used(time_point now) noexcept
    {
        last_seen_ = now;
        session_->used(now);
    }

    explicit operator bool() const noexcept { return session_.has_value(); }
    core::mongo::server_session* operator->() noexcept { return &*session_; }
    const core::mongo::server_session* operator->() const noexcept { return &*session_; }
    core::mongo::server_session& operator*() noexcept { return *session_; }

private:
    std::shared_ptr<client_state> client_;
    std::optional<std::int32_t> timeout_;
    time_point last_seen_{};  // no clock is looked at just to give it back
    std::optional<core::mongo::server_session> session_;
};

}  // namespace holdfast::shell::mongo
