#pragma once
#include "net/blocking/job.hpp"
#include "net/world.hpp"
#include "runtime/world.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::net {

/// The world of a blocking client: it belongs to the thread that runs it, its streams block in recv
/// and send with the socket's own time limit, and a wait for an event or an alarm is a condition
/// variable. Coroutines written for any world run on it, mostly without ever suspending.
class blocking_world final : public runtime::world {
public:
    explicit blocking_world(world_settings settings = {});
    ~blocking_world() override;

    /// Runs `what` to its end on this thread, with all else that is queued, and gives its value. An
    /// exception of its comes out here.
    template <class T>
    T run(runtime::awaitable<T> what)
    {
        blocking_job_of<T> job{std::move(what)};
        run_job(job);
        return job.take();
    }

    /// For who is about to give up this world: connect() ends at once with errc::cancelled, now and
    /// later. From any thread. Streams, listeners and events have their own ways to be ended.
    void cancel() noexcept;

    runtime::executor executor() override;
    time_point steady_now() const noexcept override;
    runtime::wall_time wall_now() const noexcept override;
    void random(std::span<std::uint8_t> into) override;
    runtime::alarm_clock& alarms() noexcept override;
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
    void run_job(blocking_job& what);

    struct parts;
    std::unique_ptr<parts> parts_;
};

}  // namespace holdfast::net
