#pragma once
#include "core/mongo/retry/decide.hpp"
#include "core/mongo/retry/reply_failure.hpp"
#include "core/retry/attempt_log.hpp"
#include "shell/mongo/execute/client_state.hpp"
#include "shell/mongo/execute/command_monitoring.hpp"
#include "shell/mongo/execute/command_order.hpp"
#include "shell/mongo/execute/operation_session.hpp"
#include "shell/retry_loop.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::shell::mongo {

/// MongoDB's side of the retry loop: one command, from the choice of a server to the reply.
class command_attempts {
public:
    using value_type = bson::document;
    using reply_type = core::mongo::message;
    using slow_path_type = command_attempts;  // whatever a derived class makes of the reply

    command_attempts(std::shared_ptr<client_state>&& client, command_order&& order);

    bool begin_now();
    bool send_now() { return over().send_now(trip_->request, name_); }
    runtime::awaitable<result<core::mongo::message>> round_trip()
    {
        return over().rest_of_round_trip(trip_->id, name_);
    }
    std::optional<result<core::mongo::message>> reply_at_hand()
    {
        return over().reply_at_hand(trip_->id);
    }
    std::optional<runtime::io_result> read_now() { return over().read_now(); }
    runtime::awaitable<runtime::io_result> read_more() { return over().read_more(); }
    std::optional<result<core::mongo::message>> take_in(const runtime::io_result& got)
    {
        return over().take_in(got, trip_->id, name_);
    }
    result<bson::document> end(result<core::mongo::message> reply);
    runtime::awaitable<result<bson::document>> attempt();
    settled_step decide_retry(error why, time_point now);
    runtime::event& ends_waiting() noexcept { return client_->closing; }
    std::optional<error> woke(time_point now);
    error timed_out(time_point now);
    error cancelled(const error* undecided, time_point now);

protected:
    const command_order& order() const noexcept { return order_; }

private:
    /// What an attempt holds while it is under way.
    struct trip {
        explicit trip(selected_server to) noexcept : on{std::move(to)} {}

        selected_server on;
        std::optional<lease> over = {};
        std::span<const std::uint8_t> request = {};  // in the connection
        request_id id = {};
        std::optional<command_monitoring> monitoring = {};
        bool pinned = false;  // the connection is that of a cursor
    };

    connection& over() noexcept { return **trip_->over; }
    core::mongo::selection_request wanted() const;
    void take_pinned();
    void keep_pinned(bson::view reply, bool failed);
    bool is_repeatable_write() const noexcept
    {
        return policy_.repeatable && order_.kind == core::mongo::retry_kind::write;
    }
    bool is_eligible(const core::mongo::connection_description& says) const
    {
        return order_.load != nullptr ? order_.load->is_eligible(says) : order_.eligible;
    }
    void start_attempt();
    bool logs_in_next() const noexcept;
    runtime::awaitable<result<void>> log_in();
    result<void> load();
    runtime::awaitable<result<bson::document>> send_only();
    void write_cluster_time(bson::builder& command) const;
    void write_read_concern(bson::builder& command) const;
    void remember(const core::mongo::reply_glance& seen, time_point now);
    result<void> check_session(const connection& over) const;
    result<void> prepare(const selected_server& on, const connection& over);
    result<std::span<const std::uint8_t>> write(connection& to, request_id id,
                                                const selected_server& on) const;
    result<bson::document> finished(const core::mongo::message& reply, connection& over,
                                    const selected_server& on, time_point now);
    error lost(error why, const connection& over, const selected_server& on);
    error not_sent(error why, const selected_server& on);
    error with_history(error why) const;
    void record(const error& why, std::string decision, duration wait, time_point now);

    std::shared_ptr<client_state> client_;
    command_order order_;
    std::string_view name_;  // in order_.body
    operation_id operation_;
    core::mongo::retry_policy policy_;
    core::mongo::retry_progress progress_;
    std::vector<endpoint> avoided_;
    operation_session session_;
    std::optional<core::mongo::transaction_id> transaction_;

    // Of the attempt that is under way, or has just failed.
    std::optional<trip> trip_;
    core::mongo::failed_attempt failed_;
    std::string failed_text_;
    endpoint server_;  // known once something has gone wrong
    dispatch_phase phase_ = dispatch_phase::not_sent;
    time_point attempt_began_{};

    const time_point began_;
    core::attempt_log log_;
    std::optional<error> reported_;  // what the caller will see
    bool logged_in_again_ = false;
};

static_assert(prompt_protocol<command_attempts>);

}  // namespace holdfast::shell::mongo

namespace holdfast::shell {

extern template runtime::awaitable<result<bson::document>> remaining_attempts(
    runtime::world&, mongo::command_attempts&, core::deadline, std::optional<error>);

}  // namespace holdfast::shell

namespace holdfast::shell::mongo {

/// The same for an operation that wants something else than the reply.
template <class T>
class operation_attempts : public command_attempts {
public:
    using reader = result<T> (*)(result<bson::document> outcome, const core::mongo::command& sent);

    operation_attempts(std::shared_ptr<client_state>&& client, command_order&& order, reader read)
        : command_attempts{std::move(client), std::move(order)}, read_{read}
    {
    }

    result<T> outcome_of(result<bson::document> outcome) const
    {
        return read_(std::move(outcome), order());
    }

private:
    reader read_;
};

/// Carries out one command, with all retries it is entitled to.
runtime::awaitable<result<bson::document>> execute(std::shared_ptr<client_state> client,
                                                   command_order&& order);

/// The same for who wants exceptions.
runtime::awaitable<bson::document> execute_or_throw(std::shared_ptr<client_state> client,
                                                    command_order&& order);

/// Carries out one command, and reads its reply. `Outcome` is T, and then failure is thrown, or
/// result<T>.
template <class Outcome, class T>
runtime::awaitable<Outcome> execute_and_read(std::shared_ptr<client_state> client,
                                             command_order&& order,
                                             result<T> (*read)(result<bson::document>,
                                                               const core::mongo::command&))
{
    runtime::world& in = client->world;
    const core::deadline until = order.until;
    using attempts = recycled<operation_attempts<T>>;
    return retry_loop_of<Outcome>(in, until,
                                  attempts::make(std::move(client), std::move(order), read));
}

}  // namespace holdfast::shell::mongo
