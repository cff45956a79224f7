#pragma once
#include "shell/http/connection.hpp"
#include "shell/pool/pool.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace holdfast::shell::http {

struct http_pool_settings {
    std::uint32_t max_connections = 0;  // 0: no limit
    std::uint32_t max_waiting = 4'096;  // for one of them
    duration idle_timeout = std::chrono::seconds{1};
};

/// A request and what is wanted of its reply. The bytes stay where they are until it has begun.
struct exchange_order {
    std::span<const std::uint8_t> request = {};
    std::optional<std::uint64_t> body_limit = {};
    time_point until{};
    bool idempotent = false;
};

/// A connection on which a reply has begun. It goes back to its pool with the lease, and is closed
/// if the reply was not read to its end.
using begun_exchange = std::variant<lease<connection>, exchange_failure>;

/// The connections to one server.
class http_pool final : public pool {
public:
    /// Opens a stream, with TLS and all; a plain function that calls a coroutine.
    using connector = std::function<runtime::awaitable<result<runtime::stream_ptr>>()>;

    static std::shared_ptr<http_pool> make(runtime::world& in, const http_pool_settings& settings,
                                           connector connect);

    /// Sends a request, and waits for the head of its reply. A server may close a connection that
    /// was idle at any moment, so if one breaks before anything of a reply has come, the request is
    /// sent once more on another, unless the server may have carried it out and it is not
    /// idempotent.
    runtime::awaitable<begun_exchange> exchange(exchange_order what);

private:
    http_pool(runtime::world& in, const http_pool_settings& settings, connector connect);

    runtime::awaitable<result<opened_connection>> open(std::uint32_t generation) override;
    void open_failed(const error&, std::uint32_t) override {}  // the caller that waits knows why
    void give_back(pooled_ptr what, time_point now) noexcept override;
    void queue(const std::vector<core::pool_event>&) override {}
    void deliver() override {}

    const connector connect_;
};

}  // namespace holdfast::shell::http
