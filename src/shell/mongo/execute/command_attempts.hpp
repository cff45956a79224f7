#pragma once
#include "core/mongo/retry/decide.hpp"
#include "shell/mongo/execute/attempt_failure.hpp"
#include "shell/mongo/execute/attempt_history.hpp"
#include "shell/mongo/execute/client_state.hpp"
#include "shell/mongo/execute/command_order.hpp"
#include "shell/mongo/execute/operation_session.hpp"
#include "shell/mongo/execute/server_attempt.hpp"
#include "shell/retry_loop.hpp"

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace holdfast::shell::mongo {

/// MongoDB's side of the retry loop: one command, from the choice of a server to the reply.
class command_attempts {
public:
    using value_type = bson::view;  // the reply, in the connection until release()
    using reply_type = core::mongo::message;
    using slow_path_type = command_attempts;  // whatever a derived class makes of the reply

    command_attempts(std::shared_ptr<client_state>&& client, command_order&& order);

    bool begin_now();
    exchange_step start() { return attempt_->to().start(attempt_->request, attempt_->id, name()); }
    runtime::awaitable<runtime::io_result> read_more() { return attempt_->to().read_more(); }
    exchange_step resume(const runtime::io_result& got)
    {
        return attempt_->to().resume(got, attempt_->id, name());
    }
    runtime::awaitable<result<core::mongo::message>> round_trip()
    {
        return attempt_->to().rest_of_round_trip(attempt_->id, name());
    }
    result<core::mongo::message>&& take_reply() { return attempt_->to().take_reply(); }
    result<bson::view> end(result<core::mongo::message>&& reply);
    runtime::awaitable<result<bson::view>> attempt();
    settled_step decide_retry(error why, time_point now);
    runtime::event& ends_waiting() noexcept { return client_->closing; }
    std::optional<error> woke(time_point now);
    error timed_out(time_point now);
    error cancelled(const error* undecided, time_point now);

protected:
    const core::mongo::command& command() const noexcept { return order_.command; }

    /// The error that the caller gets, with the operation's name. One that was found in the reply
    /// of a successful command, such as a duplicate key, gets its server and its history as well.
    error explained(error why, bool found_in_reply);

    /// The reply of a successful attempt has been read: its connection is returned.
    void release() noexcept;

private:
    std::string_view name() const noexcept { return command().body.name(); }
    core::mongo::selection_request wanted() const;
    void start_attempt();
    bool authenticates_next() const noexcept;
    runtime::awaitable<result<void>> reauthenticate();
    result<void> check_server();
    result<void> prepare_session();
    result<void> encode();
    runtime::awaitable<result<bson::view>> send_only();
    result<bson::view> finished(const core::mongo::message& reply);
    error failed_connection(error why);
    error failed_checkout(error why);
    error deposed() const;
    void record_refusal(const error& why);
    void keep_refusal(bson::view reply);
    runtime::awaitable<result<void>> wait_for_connection();
    void select_anew(const error& why);
    attempt_failure::write_facts write_facts() const noexcept
    {
        return {.repeatable = policy_.repeatable &&
                              command().kind == core::mongo::retry_kind::write,
                .numbered = session_.transaction().has_value()};
    }

    std::shared_ptr<client_state> client_;
    command_order order_;
    operation_id operation_;
    core::mongo::retry_policy policy_;
    core::mongo::retry_progress progress_;
    std::vector<endpoint> deprioritised_;
    operation_session session_;
    attempt_history history_;

    // Of the attempt that is under way, or has just failed.
    std::optional<server_attempt> attempt_;
    attempt_failure failure_;
    time_point replied_at_{};  // no clock is read just to return the connection
    bool reauthenticated_ = false;
};

static_assert(prompt_protocol<command_attempts>);

}  // namespace holdfast::shell::mongo

namespace holdfast::shell {

extern template runtime::awaitable<result<bson::view>> remaining_attempts(runtime::world&,
                                                                          mongo::command_attempts&,
                                                                          core::deadline,
                                                                          std::optional<error>);

}  // namespace holdfast::shell
