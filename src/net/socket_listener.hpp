#pragma once
#include "net/context_registry.hpp"
#include "net/socket_types.hpp"
#include "runtime/world.hpp"

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace holdfast::net {

/// The file of a Unix socket, removed with its listener.
class socket_file {
public:
    socket_file() = default;
    explicit socket_file(std::string path);  // it is there already
    socket_file(socket_file&& other) noexcept;
    socket_file& operator=(socket_file&&) = delete;
    ~socket_file();

    const std::string& path() const noexcept { return path_; }

    /// Removes what a listener that died has left behind, so that its path can be used again.
    static void remove_stale(const std::string& path) noexcept;

private:
    std::string path_;
    dev_t device_ = 0;  // and if meanwhile the path means another file, that one stays
    ino_t number_ = 0;
};

/// Listens at an address of this machine, "localhost" or a path.
result<runtime::listener_ptr> listen_at(runtime::world& in, std::shared_ptr<context_registry> at,
                                        const runtime::destination& where);

class socket_listener final : public runtime::listener, private context_bound {
public:
    socket_listener(runtime::world& in, std::shared_ptr<context_registry> at, stream_acceptor from,
                    std::string name, socket_file file);
    ~socket_listener() override;

    runtime::awaitable<result<runtime::stream_ptr>> accept() override;
    void cancel() noexcept override;
    std::uint16_t port() const noexcept override { return port_; }

private:
    struct accepted;
    struct start;
    template <class Handler>
    struct completion;

    void context_gone() noexcept override;
    runtime::stream_ptr make_stream(stream_socket from) const;

    runtime::world& in_;
    const std::shared_ptr<context_registry> at_;
    const std::string name_;
    const socket_file file_;
    std::uint16_t port_ = 0;
    std::mutex mutex_;
    std::optional<stream_acceptor> acceptor_;  // none if the context has gone
    bool cancelled_ = false;
};

}  // namespace holdfast::net
