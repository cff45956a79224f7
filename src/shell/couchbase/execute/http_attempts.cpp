#include "shell/couchbase/execute/http_attempts.hpp"

#include "core/couchbase/service/node_choice.hpp"
#include "core/couchbase/service/service_reply.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "shell/couchbase/connection/authorization.hpp"
#include "shell/http/request.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <variant>
#include <vector>

namespace holdfast::shell::couchbase {

using core::couchbase::obstacle;
using holdfast::couchbase::errc;

namespace {

/// Requests in one attempt that are but steps to the last one.
constexpr int most_steps = 4;
/// What a service is given for a request without a deadline.
constexpr std::chrono::milliseconds longest_time_left = std::chrono::hours{24};

struct method_name {
    core::couchbase::http_method method;
    std::string_view text;
};
constexpr method_name method_names[] = {
    {core::couchbase::http_method::get, "GET"},     {core::couchbase::http_method::post, "POST"},
    {core::couchbase::http_method::put, "PUT"},     {core::couchbase::http_method::patch, "PATCH"},
    {core::couchbase::http_method::remove, "DELETE"},
};

/// Empty for a method that is not supported, which write_request() refuses.
std::string_view method_text(core::couchbase::http_method method) noexcept
{
    const auto* const found = std::ranges::find(method_names, method, &method_name::method);
    return found == std::end(method_names) ? std::string_view{} : found->text;
}

}  // namespace

/// The nodes to choose from. Views are where their bucket is, if that is known.
service_nodes::snapshot http_attempts::known_nodes() const
{
    auto known = cluster_->nodes->services().current();
    if (call_.target.service != core::couchbase::service_type::views || call_.target.bucket.empty())
        return known;
    if (auto of_bucket = cluster_->nodes->bucket(call_.target.bucket)->config())
        known.config = std::move(of_bucket);
    return known;
}

http_attempts::chosen http_attempts::choose()
{
    cluster_->nodes->start();
    started_ = cluster_->world.steady_now();
    phase_ = dispatch_phase::not_sent;
    target_.reset();
    obstacle_.reset();
    problem_ = closed_or_late(call_.until);
    if (problem_)
        return chosen::failed;
    const auto known = known_nodes();
    if (!known.config) {
        // What will not mend itself is not waited for, unless the strategy wants to.
        const auto fact = cluster_->nodes->with_facts([&](const core::couchbase::health& facts) {
            return facts.terminal_fact(call_.target.service, {});
        });
        if (!fact)
            return chosen::waits;
        problem_ = obstructed(obstacle::all_sockets_down);
        return chosen::failed;
    }
    core::couchbase::node_wish wish;
    wish.service = call_.target.service;
    wish.with_tls = cluster_->nodes->settings().tls.enabled;
    wish.network = known.network;
    // Requests begin with the nodes in turn, however many attempts others have made.
    if (tries_ == 0)
        turn_ = cluster_->nodes->services().next_turn();
    wish.turn = turn_ + tries_++;
    if (just_failed_)
        wish.avoid = {&*just_failed_, 1};
    wish.only = call_.target.only;
    auto found = core::couchbase::choose_node(*known.config, wish);
    if (auto* const node = std::get_if<core::couchbase::chosen_node>(&found)) {
        target_ = std::move(node->address);
        config_ = known.config;
        return chosen::yes;
    }
    problem_ = obstructed(std::get<obstacle>(found));
    return chosen::failed;
}

runtime::awaitable<std::optional<error>> http_attempts::wait_for_change(std::uint64_t seen)
{
    auto& changed = cluster_->nodes->changed();
    const runtime::wait_end end = co_await changed.wait(seen, call_.until.when());
    if (end == runtime::wait_end::notified)
        co_return std::nullopt;
    out_of_time_ = end == runtime::wait_end::timed_out;
    co_return interrupted("while it waited to be sent");
}

runtime::awaitable<result<http_attempts::answer>> http_attempts::attempt()
{
    for (int steps = 0;;) {
        const std::uint64_t seen = cluster_->nodes->changed().count();
        const chosen is = choose();
        if (is == chosen::failed)
            co_return *std::exchange(problem_, std::nullopt);
        if (is == chosen::waits) {
            auto over = co_await wait_for_change(seen);
            if (over)
                co_return *std::move(over);
            continue;
        }
        auto why = co_await exchange(config_);
        const bool is_step = !why && call_.operation->is_step();
        if (is_step) {
            why = co_await collect(core::couchbase::max_error_body, false);
            if (!why)
                why = classified(body_);
        } else if (!why) {
            why = co_await read_reply();
        }
        if (why) {
            on_.reset();
            just_failed_ = target_;
            co_return *std::move(why);
        }
        if (!is_step) {
            cluster_->budget.operation_succeeded();
            co_return answer{};
        }
        if (++steps == most_steps)
            co_return error{errc::internal_server_failure, "the request came to no end"};
    }
}

/// Builds the bytes of the request for this attempt.
std::optional<error> http_attempts::write(const core::couchbase::cluster_config& config,
                                          bson::byte_buffer& to)
{
    const auto left = std::chrono::floor<std::chrono::milliseconds>(call_.until.left(started_));
    const attempt_view view{std::clamp(left, std::chrono::milliseconds{1}, longest_time_left),
                            config};
    auto built = call_.operation->request(view);
    if (!built)
        return not_sendable(std::move(built).error());
    const auto& connections = *cluster_->nodes->connections();
    const secret authorization = authorization_of(*connections.current_login());
    std::vector<http::header> more;
    for (const core::couchbase::service_header& one : built->headers)
        more.push_back({one.name, one.value});
    http::request what;
    what.method = method_text(built->method);
    what.target = built->path;
    what.host = target_->value();
    what.authorization = authorization.view();
    what.user_agent = connections.agent;
    what.content_type = built->content_type;
    what.more = more;
    what.body = built->body;
    auto written = http::write_request(what, to);
    if (!written)
        return not_sendable(error{errc::invalid_argument, written.error().message()});
    return std::nullopt;
}

/// Sends the request, and waits for the head of its reply.
runtime::awaitable<std::optional<error>> http_attempts::exchange(
    core::couchbase::cluster_config_ptr config)
{
    bson::byte_buffer bytes;
    auto problem = write(*config, bytes);
    if (problem)
        co_return problem;
    const auto pool = cluster_->nodes->services().pool_of(*target_);
    if (!pool)
        co_return error{errc::closed, "the cluster is closed"};
    http::exchange_order order;
    order.request = bytes.bytes();
    order.until = call_.until.when();
    order.idempotent = call_.target.idempotent;
    auto begun = co_await pool->exchange(order);
    if (auto* const failed = std::get_if<http::exchange_failure>(&begun))
        co_return broken(std::move(*failed));
    on_.emplace(std::move(std::get<exchange_lease>(begun)));
    head_ = (*on_)->head();
    phase_ = dispatch_phase::in_flight;
    dispatched_ = true;
    co_return std::nullopt;
}

runtime::awaitable<std::optional<error>> http_attempts::collect(std::size_t limit, bool leave_rest)
{
    body_.clear();
    for (;;) {
        auto step = co_await (*on_)->next_piece();
        if (auto* const failed = std::get_if<http::exchange_failure>(&step))
            co_return broken(std::move(*failed));
        const http::body_piece piece = std::get<http::body_piece>(step);
        if (piece.empty())
            break;
        const std::size_t fits = std::min(piece.size(), limit - body_.size());
        body_.append(reinterpret_cast<const char*>(piece.data()), fits);
        if (fits == piece.size())
            continue;
        if (!leave_rest)
            co_return unusable(error{errc::decoding_failure, "the reply is longer than " +
                                                                 std::to_string(limit) + " bytes"});
        break;
    }
    on_.reset();
    co_return std::nullopt;
}

std::optional<error> http_attempts::classified(std::string_view body)
{
    phase_ = dispatch_phase::answered;
    const service_reply_view reply{head_.status, head_.content_type, head_.location, body};
    const auto meant = call_.operation->classify(reply);
    if (!meant)
        return std::nullopt;
    reason_ = meant->reason;
    if (meant->fetch_config)
        cluster_->nodes->bucket("")->want_config();
    return meant->as_error().with_context("http_status", std::to_string(head_.status));
}

}  // namespace holdfast::shell::couchbase
