#pragma once
#include "runtime/alarm_heap.hpp"
#include "runtime/run_queue.hpp"
#include "runtime/world.hpp"
#include "sim/connection.hpp"
#include "sim/random.hpp"
#include "sim/universe.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::sim {

class machine;

/// One process on a machine, from its start to its crash, and the world it sees. It stays until the
/// simulation ends: what it has made may refer to it for longer than it runs.
class incarnation final : public runtime::world, private runtime::alarm_clock {
public:
    incarnation(universe& in, machine& on, std::size_t number);
    incarnation(const incarnation&) = delete;
    incarnation& operator=(const incarnation&) = delete;
    ~incarnation() override;

    machine& where() const noexcept { return on_; }
    universe& all() const noexcept { return all_; }

    /// Runs one function; false if there is none.
    bool run_one();
    time_point next_alarm() const noexcept { return alarms_.next(); }
    void ring_first() noexcept { alarms_.ring_first(); }
    std::size_t alarms_set() const noexcept { return alarms_.size(); }

    void start(runtime::awaitable<void> what);
    /// Drops all that runs or waits. For good.
    void stop();

    /// Null without a listener there.
    std::shared_ptr<backlog> listening_at(std::uint16_t port) const;
    void stop_listening(const std::shared_ptr<backlog>& at);
    std::size_t listeners() const noexcept { return listening_.size(); }

    runtime::executor executor() override { return queue_.get_executor(); }
    time_point steady_now() const noexcept override { return all_.time.now(); }
    runtime::wall_time wall_now() const noexcept override;
    void random(std::span<std::uint8_t> into) override { chance_.fill(into); }
    runtime::alarm_clock& alarms() noexcept override { return *this; }
    runtime::awaitable<result<runtime::stream_ptr>> connect(runtime::destination where,
                                                            time_point until) override;
    result<runtime::listener_ptr> listen(runtime::destination where) override;
    runtime::awaitable<result<std::vector<std::string>>> resolve(std::string host,
                                                                 time_point until) override;
    runtime::awaitable<result<std::vector<runtime::srv_record>>> resolve_srv(
        std::string name, time_point until) override;
    runtime::awaitable<result<std::vector<std::string>>> resolve_txt(std::string name,
                                                                     time_point until) override;
    result<runtime::tls_ptr> tls(const runtime::tls_options& options) override;

private:
    void set(runtime::alarm& which, time_point when) override { alarms_.set(which, when); }
    void clear(runtime::alarm& which) noexcept override { alarms_.clear(which); }

    runtime::awaitable<std::optional<error>> ask_name_server(std::string name, time_point until);
    void trace_look_up(const std::string& name, std::size_t records);
    bool is_own(const std::string& address) const;
    std::uint16_t free_port();

    universe& all_;
    machine& on_;
    random_source chance_;
    runtime::alarm_heap alarms_;  // before the queue, whose coroutines clear theirs when they go
    std::map<std::uint16_t, std::shared_ptr<backlog>> listening_;
    std::size_t ports_chosen_ = 0;
    bool stopped_ = false;
    runtime::run_queue queue_;
};

}  // namespace holdfast::sim
