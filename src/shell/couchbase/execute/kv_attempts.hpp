#pragma once
#include "core/couchbase/operation/kv_order.hpp"
#include "shell/couchbase/dispatch/kv_bucket.hpp"
#include "shell/couchbase/execute/attempt_decisions.hpp"
#include "shell/observe/operation_watch.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace holdfast::shell::couchbase {

/// What an operation is given besides its request.
struct kv_call {
    /// What few operations have.
    struct extras {
        holdfast::couchbase::retry_strategy_ptr strategy = {};  // null: the cluster's
        std::shared_ptr<const holdfast::couchbase::client_context> context = {};
        trace_parent parent = {};
        std::optional<operation_watch> watch = {};  // if the cluster is observed
    };

    kv_bucket* bucket = nullptr;  // the cluster keeps it
    std::shared_ptr<const keyspace> in = {};
    core::deadline until = {};
    time_point began{};
    std::unique_ptr<extras> more = {};
    bool may_block = false;  // the thread, for the reply
};

/// Couchbase's side of the retry loop for key-value operations: one request, from the choice of a
/// node to the reply. What is made of the reply is for a derived class.
class kv_attempts : public attempt_decisions {
public:
    struct answer {};
    using value_type = answer;
    using reply_type = runtime::wait_end;
    using slow_path_type = kv_attempts;

    /// `make_call` gives the kv_call, which is not moved any more.
    template <class MakeCall>
    kv_attempts(const std::shared_ptr<cluster_state>& cluster, MakeCall&& make_call)
        : attempt_decisions{cluster}, call_(make_call())
    {
        started_ = call_.began;
    }
    virtual ~kv_attempts();

    bool begin_now();
    void send_now() { route_.connection->flush(); }
    /// The same as reply(), if the thread waits for it itself.
    std::optional<runtime::wait_end> reply_now()
    {
        return route_.own ? (*route_.own)->receive_now(opaque_, waiter_) : std::nullopt;
    }
    runtime::handoff_base* waiter() noexcept { return route_.own ? nullptr : &waiter_; }
    runtime::awaitable<runtime::wait_end> reply()
    {
        return route_.own ? (*route_.own)->receive(opaque_, waiter_) : waiter_.wait();
    }
    result<answer> end(runtime::wait_end end);
    runtime::awaitable<result<answer>> attempt();

private:
    virtual const core::couchbase::kv_order& order() const noexcept = 0;
    virtual bool is_answer(core::couchbase::kv_status status) const noexcept = 0;
    virtual void take(const core::couchbase::kv_reply& reply) = 0;

    enum class begun : std::uint8_t { yes, waits, no_slot, must_look_up, must_check_out, failed };
    friend class kv_watch;
    inline result<answer> end_of_attempt(runtime::wait_end end);  // kv_attempts.cpp's own
    begun send(time_point now);
    begun try_begin();
    error obstructed(core::couchbase::obstacle what);
    runtime::awaitable<std::optional<error>> wait(begun for_what, std::uint64_t seen);
    result<answer> take_reply(const core::couchbase::frame& reply);
    error refused(const core::couchbase::frame& reply);
    error lost(const kv_delivery& why);
    void let_go(observed::orphan_cause because);

    core::couchbase::retry_request::settings describe() const override;
    time_point began() const noexcept override { return call_.began; }
    endpoint server() const override;
    error located(error why) const override;
    std::string waiting_for(time_point now) const override;
    std::string missing() const;

    kv_call call_;
    kv_waiter waiter_;

    // Of the attempt that is under way, or has just failed.
    kv_route route_;
    std::uint32_t opaque_ = 0;
    bool in_flight_ = false;
    std::optional<error> problem_;  // of an attempt that could not begin
    std::uint64_t look_up_id_ = 0;
    bson::byte_buffer inflated_;
};

static_assert(pipelined_protocol<kv_attempts> && asking_protocol<kv_attempts>);

}  // namespace holdfast::shell::couchbase

namespace holdfast::shell {

extern template runtime::awaitable<result<couchbase::kv_attempts::answer>> remaining_attempts(
    runtime::world&, couchbase::kv_attempts&, core::deadline, std::optional<error>);

}  // namespace holdfast::shell
