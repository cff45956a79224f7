#pragma once
#include "net/dns/query.hpp"
#include "runtime/wait.hpp"

#include <boost/asio/execution_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <memory>
#include <mutex>
#include <vector>

namespace holdfast::net {

namespace asio = boost::asio;

class lookup_service;

/// A query whose sockets are watched by the executor of a world. Owned by the coroutine that waits
/// for it and by the handlers that are under way; whichever thread they run on, only one is in it
/// at a time.
class lookup final : public socket_watcher, public std::enable_shared_from_this<lookup> {
public:
    /// `waiter` is where the coroutine runs.
    lookup(runtime::world& in, const asio::execution_context& waiter);
    ~lookup() = default;

    void start(const dns_settings& settings, question what);

    /// There is news when the outcome is there, and whenever due() may have changed.
    runtime::event& news() noexcept { return news_; }

    /// Takes the outcome, if there is one.
    std::optional<result<found>> take();
    time_point due(time_point now);
    void process_time();

    /// Closes all. The handlers that are under way do nothing any more.
    void stop() noexcept;

    /// The same, because the execution context of the sockets goes away.
    void abandon(const asio::execution_context& gone);

private:
    /// One socket, which belongs to c-ares: it is lent to Asio for waiting, and given back before
    /// c-ares closes it.
    struct watched {
        watched(const runtime::executor& on, int number) : socket{number}, waiting{on} {}
        int socket;
        asio::posix::stream_descriptor waiting;
        bool for_read = false;
        bool for_write = false;
        bool reads = false;  // a handler is under way
        bool writes = false;
        bool returned = false;
    };
    using watched_ptr = std::shared_ptr<watched>;

    void watch(int socket, bool for_read, bool for_write) noexcept override;
    void return_socket(int socket) noexcept;
    void wait_for_sockets();
    void on_ready(watched& which, bool for_read);
    void close() noexcept;

    const runtime::executor on_;
    const asio::execution_context& waiter_;
    runtime::event news_;
    std::mutex mutex_;
    question what_;
    std::vector<watched_ptr> sockets_;
    std::optional<query> query_;
    std::optional<error> failure_;
    lookup_service* service_ = nullptr;
};

/// Knows the look-ups whose sockets wait on one execution context, for nothing of Asio's may be
/// left when the context is destroyed.
class lookup_service final : public asio::execution_context::service {
public:
    using key_type = lookup_service;
    static inline asio::execution_context::id id;

    explicit lookup_service(asio::execution_context& owner) : service{owner} {}

    void enter(lookup& who);
    void leave(lookup& who) noexcept;

private:
    void shutdown() noexcept override;

    std::mutex mutex_;
    std::vector<lookup*> all_;
};

}  // namespace holdfast::net
