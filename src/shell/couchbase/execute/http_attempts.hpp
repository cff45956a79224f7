#pragma once
#include "shell/couchbase/dispatch/service_nodes.hpp"
#include "shell/couchbase/execute/attempt_decisions.hpp"
#include "shell/couchbase/execute/service_operation.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::shell::couchbase {

/// Couchbase's side of the retry loop for requests to HTTP services: one request, from the choice
/// of a node to the reply. How the body is read is for a derived class.
class http_attempts : public attempt_decisions {
public:
    struct answer {};
    using value_type = answer;
    using slow_path_type = http_attempts;

    virtual ~http_attempts() = default;

    runtime::awaitable<result<answer>> attempt();

protected:
    using exchange_lease = lease<http::connection>;

    http_attempts(std::shared_ptr<cluster_state> cluster, service_call call)
        : attempt_decisions{std::move(cluster)}, call_{std::move(call)}
    {
        started_ = call_.began;
    }

    /// Reads the body of the reply whose head is there, as far as it takes to know whether it is a
    /// success. An error is that of the attempt.
    virtual runtime::awaitable<std::optional<error>> read_reply() = 0;

    /// Reads it whole. What is longer than `limit` is an error, or is left unread.
    runtime::awaitable<std::optional<error>> collect(std::size_t limit, bool leave_rest);
    /// What the reply means; nothing: it is a success.
    std::optional<error> classified(std::string_view body);
    /// The error of an exchange that did not come to its end. The connection is closed.
    error broken(http::exchange_failure why);

    service_call call_;
    std::optional<endpoint> target_;  // of the attempt
    std::optional<exchange_lease> on_;  // while there is something to be read
    http::response_head head_;
    std::string body_;

private:
    enum class chosen : std::uint8_t { yes, waits, failed };

    chosen choose();
    service_nodes::snapshot known_nodes() const;
    runtime::awaitable<std::optional<error>> wait_for_change(std::uint64_t seen);
    runtime::awaitable<std::optional<error>> exchange(core::couchbase::cluster_config_ptr config);
    std::optional<error> write(const core::couchbase::cluster_config& config,
                               bson::byte_buffer& to);
    error without_connection(const error& why);
    error obstructed(core::couchbase::obstacle what, const std::string& detail = {});
    error unusable(const error& why);

    core::couchbase::retry_request::settings describe() const override;
    time_point began() const noexcept override { return call_.began; }
    endpoint server() const override { return target_.value_or(endpoint{}); }
    error located(error why) const override;
    std::string waiting_for(time_point now) const override;

    std::uint32_t turn_ = 0;
    std::uint32_t tries_ = 0;
    std::optional<endpoint> just_failed_;
    core::couchbase::cluster_config_ptr config_;  // by which the node was chosen
    std::optional<error> problem_;  // of an attempt that could not begin
    std::optional<core::couchbase::obstacle> obstacle_;
};

static_assert(asking_protocol<http_attempts>);

/// "query"
std::string_view name_of(core::couchbase::service_type service) noexcept;

}  // namespace holdfast::shell::couchbase

namespace holdfast::shell {

extern template runtime::awaitable<result<couchbase::http_attempts::answer>> remaining_attempts(
    runtime::world&, couchbase::http_attempts&, core::deadline, std::optional<error>);

}  // namespace holdfast::shell
