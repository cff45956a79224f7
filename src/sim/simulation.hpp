#pragma once
#include "runtime/world.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::sim {

using std::chrono::milliseconds;

/// How bytes travel between two hosts, in one direction. The defaults are those of a good network.
/// Each write is a segment with a latency of its own; none overtakes another of its connection, and
/// connections do not wait for each other. While both ends live nothing is lost for good: what was
/// lost arrives `resend` later, and what a cut has swallowed arrives `resend` and the latency after
/// the healing.
struct link {
    duration latency_min = std::chrono::microseconds{100};
    duration latency_max = milliseconds{1};
    double loss = 0;  // of a segment; TCP sends it again, 15 times at most
    duration resend = milliseconds{200};  // how late
    double reset = 0;  // of a segment: the connection breaks instead, for both ends
    bool cut = false;  // nothing arrives, without an error: a partition, or a silent peer
    std::size_t bytes_per_ms = 0;  // 0: no limit
};

/// What a simulation still holds. All are zero when every operation has ended and been let go.
struct leftovers {
    std::size_t streams = 0;  // open ends of connections
    std::size_t listeners = 0;
    std::size_t alarms = 0;  // set and not rung
    std::size_t tasks = 0;  // coroutines started by host::start() that have not ended
    friend bool operator==(const leftovers&, const leftovers&) = default;
};

class simulation;

/// One machine: a name, an address, clocks, and a world for what runs on it.
class host {
public:
    virtual ~host() = default;

    virtual const std::string& name() const noexcept = 0;
    virtual const std::string& address() const noexcept = 0;  // "10.0.0.1"

    /// Of the present incarnation: a crash ends it, and a restart makes another.
    virtual runtime::world& world() = 0;

    /// Runs a coroutine on this host. It is destroyed if the host crashes. An exception that it
    /// lets out comes out of simulation::run().
    virtual void start(runtime::awaitable<void> what) = 0;

    /// The process is gone, with all coroutines and timers. Peers get a reset, and new
    /// connections are refused, as by a kernel that survives its process; or there is silence
    /// (`silent`), as when the power fails, until it restarts and does not know the connection.
    virtual void crash(bool silent = false) = 0;
    /// A new world; `boot` is called to start what runs on it. Only after a crash.
    virtual void restart(const std::function<void(host&)>& boot) = 0;
    virtual bool running() const noexcept = 0;

    /// The process stands still: nothing of it runs, its alarms ring late. Its kernel goes on
    /// taking connections, and bytes until its buffers are full.
    virtual void freeze() = 0;
    virtual void thaw() = 0;

    /// The wall clock jumps, forwards or back; the steady clock never does.
    virtual void jump_wall_clock(std::chrono::milliseconds by) = 0;

    /// How many bytes its kernel takes before its process reads them. Small: a slow reader. What
    /// an open connection has been granted already is not taken back.
    virtual void set_receive_buffer(std::size_t bytes) = 0;
};

/// A network of machines in one thread, on virtual time. All chance comes from the seed, so one
/// seed is one history, on every machine and in every build; trace_hash() says whether two
/// histories were the same.
class simulation {
public:
    explicit simulation(std::uint64_t seed);
    simulation(const simulation&) = delete;
    simulation& operator=(const simulation&) = delete;
    ~simulation();

    /// Its name can be looked up by all others.
    host& add_host(std::string name);
    host& at(std::string_view name);

    time_point now() const noexcept;

    /// Runs until nothing is left that could ever happen. Frozen hosts do not count.
    void run();
    /// Runs all that happens up to `when`; it is `when` afterwards.
    void run_until(time_point when);
    void run_for(duration length) { run_until(now() + length); }
    /// Runs until `done` holds, asking after each step; false if that never came to pass.
    bool run_while_not(const std::function<bool()>& done);

    /// Calls `what` at that time, for scripts: `at_time(now() + 5s, [&] { primary.crash(); })`.
    void at_time(time_point when, std::function<void()> what);

    /// Both directions between two hosts, or all links, also those of hosts to come.
    void set_link(const host& one, const host& other, const link& both_ways);
    void set_link_one_way(const host& from, const host& to, const link& link_state);
    void set_all_links(const link& link_state);
    link link_between(const host& from, const host& to) const;
    void partition(const host& one, const host& other);  // cut both ways, the rest stays
    void partition_one_way(const host& from, const host& to);
    void heal(const host& one, const host& other);
    void heal_all();
    /// Breaks all connections between two hosts: both ends see a reset.
    void reset_connections(const host& one, const host& other);

    /// DNS, as all hosts see it from now on. An empty list removes a name.
    void set_addresses(std::string name, std::vector<std::string> addresses);
    void set_srv(std::string name, std::vector<runtime::srv_record> records);
    void set_txt(std::string name, std::vector<std::string> records);
    void set_dns_latency(duration latency);
    void set_dns_failing(bool failing);  // no answer at all

    /// Everything that happened, folded into a number: what was sent, received, connected, reset,
    /// looked up and rung, when and by whom. Add to it what must not differ either.
    std::uint64_t trace_hash() const noexcept;
    void note(std::string_view what);
    /// Keeps the lines, for people. Off at first.
    void keep_trace(bool on);
    const std::vector<std::string>& trace() const noexcept;

    /// How many functions, deliveries, scripts and alarms there were so far.
    std::uint64_t events() const noexcept;

    leftovers left() const noexcept;

    /// A stream of numbers from the seed, for scripts and scenarios.
    std::uint64_t random();
    double chance();

private:
    struct parts;
    std::unique_ptr<parts> parts_;
};

}  // namespace holdfast::sim
