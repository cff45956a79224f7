#pragma once
#include "holdfast/error.hpp"
#include "net/dns/resolver.hpp"
#include "runtime/world.hpp"

#include <ares.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace holdfast::net {

struct question {
    enum class kind : std::uint8_t { addresses, srv, txt };
    kind what = kind::addresses;
    std::string name = {};
};

struct found {
    std::vector<std::string> texts = {};  // addresses, or texts
    std::vector<runtime::srv_record> services = {};
};

error lookup_failed(const question& asked, int ares_status);
error lookup_timed_out(const question& asked);
error lookup_cancelled(const question& asked);

/// Keeps the c-ares library initialised. The library counts for itself, but not atomically.
class ares_library {
public:
    ares_library();
    ares_library(const ares_library&) = delete;
    ares_library& operator=(const ares_library&) = delete;
    ~ares_library();
};

/// What c-ares wants to know of one of its sockets from now on: if it wants neither, it is about to
/// close it.
class socket_watcher {
public:
    virtual void watch(int socket, bool for_read, bool for_write) noexcept = 0;

protected:
    ~socket_watcher() = default;
};

/// One question, on a channel of its own: so it can be given up alone, its answer comes to a port
/// that cannot be guessed, and a changed resolv.conf is noticed. Its owner locks, waits for the
/// sockets, and passes the time. Nothing is called back but the watcher, and that only from
/// within the functions here.
class query {
public:
    query(const dns_settings& settings, question asked, socket_watcher& watcher);
    query(const query&) = delete;
    query& operator=(const query&) = delete;
    ~query() { give_up(); }

    /// Null until the answer, or the lack of one, is there.
    std::optional<result<found>>& outcome() noexcept { return outcome_; }

    /// A socket is ready.
    void process(int socket, bool for_read, bool for_write);

    /// When process_time() is due, if no socket is ready before.
    time_point due(time_point now) const;
    void process_time() { process(ARES_SOCKET_BAD, false, false); }

    /// Closes all sockets. There is no outcome then, unless there was one already.
    void give_up() noexcept;

private:
    bool open_channel(const dns_settings& settings, socket_watcher& watcher);
    void ask();
    void fail(int ares_status) { outcome_ = lookup_failed(asked_, ares_status); }
    void take_addresses(int status, const ares_addrinfo* list);
    void take_message(int status, std::span<const std::uint8_t> message);

    const ares_library library_;
    question asked_;
    ares_channel channel_ = nullptr;
    std::optional<result<found>> outcome_;
};

}  // namespace holdfast::net
