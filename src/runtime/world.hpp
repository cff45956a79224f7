#pragma once
#include "holdfast/error.hpp"
#include "runtime/alarm.hpp"
#include "runtime/awaitable.hpp"
#include "runtime/errc.hpp"
#include "runtime/stream.hpp"
#include "runtime/tls.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace holdfast::runtime {

using wall_time = std::chrono::system_clock::time_point;

/// Where to connect to, or to listen at: a name or an address, and a port. A host with a slash in
/// it is the path of a Unix socket.
struct destination {
    std::string host;
    std::uint16_t port = 0;

    bool is_path() const noexcept { return host.find('/') != std::string::npos; }
};

/// "localhost:27017", "[::1]:27017" or the path.
std::string to_string(const destination& where);

struct srv_record {
    std::string host;  // without a dot at the end, in lower case
    std::uint16_t port = 0;
    std::uint16_t priority = 0;
    std::uint16_t weight = 0;
    std::uint32_t ttl = 0;  // seconds
};

/// The one door to what is outside: time, chance, names and bytes. Everything behind `core` and in
/// front of the operating system is written against this class, and does not see whether it talks
/// to sockets, blocks a thread, or runs in a simulation: which is why a failure that the simulator
/// finds is a failure of the code.
///
/// Objects that wait own the clock they wait on (shared_alarms()), and background tasks own their
/// world if it is shared, as that of a client is: an executor destroys what it holds in any order.
/// Otherwise a world outlives all that it has made. Its functions may be called from any thread,
/// unless the world itself belongs to one thread.
class world : public std::enable_shared_from_this<world> {
public:
    virtual ~world() = default;

    /// Where coroutines run that belong to no operation: monitors, upkeep.
    virtual runtime::executor executor() = 0;

    /// Only goes forward, and only while the process runs.
    virtual time_point steady_now() const noexcept = 0;
    /// What people call the time; it jumps. For ObjectIds and logs, never for waiting.
    virtual wall_time wall_now() const noexcept = 0;

    virtual void random(std::span<std::uint8_t> into) = 0;
    double chance();  // uniform in [0, 1)

    virtual alarm_clock& alarms() noexcept = 0;

    /// The same clock, for objects that may have to clear an alarm after the world has gone. Owns
    /// nothing in a world that outlives all its coroutines.
    virtual std::shared_ptr<alarm_clock> shared_alarms() noexcept
    {
        return {std::shared_ptr<void>{}, &alarms()};
    }

    /// A connection, with no delay for small writes and with keep-alive. Names are looked up, and
    /// if there are several addresses they are tried side by side, a head start for the first. An
    /// error names phase and cause; see errc.hpp. The deadline holds for connecting only.
    virtual awaitable<result<stream_ptr>> connect(destination where, time_point until) = 0;

    /// Takes connections from now on. Port 0: any free one.
    virtual result<listener_ptr> listen(destination where) = 0;

    /// Addresses of a host, as text, in the order in which to try them; never an empty list.
    virtual awaitable<result<std::vector<std::string>>> resolve(std::string host,
                                                                time_point until) = 0;
    /// Never an empty list either: no records is errc::name_not_found.
    virtual awaitable<result<std::vector<srv_record>>> resolve_srv(std::string name,
                                                                   time_point until) = 0;
    /// One text per record, its strings put together. No records is no error, and an empty list.
    virtual awaitable<result<std::vector<std::string>>> resolve_txt(std::string name,
                                                                    time_point until) = 0;

    /// Reads the files that the options name.
    virtual result<tls_ptr> tls(const tls_options& options) = 0;
};

}  // namespace holdfast::runtime
