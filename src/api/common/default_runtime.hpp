#pragma once
#include "runtime/world.hpp"

#include <memory>
#include <string>
#include <vector>

namespace holdfast::api {

/// The world that applications live in. Names are asked for at these servers, "10.0.0.53:5353", or
/// at those of the system.
std::shared_ptr<runtime::world> default_world(runtime::executor on,
                                              std::vector<std::string> name_servers = {});

/// What a blocking client lives on: a world on a thread of its own for monitors, upkeep and timers,
/// while operations run on the threads that call them.
class blocking_runtime {
public:
    static std::unique_ptr<blocking_runtime> start(std::vector<std::string> name_servers = {});
    virtual ~blocking_runtime() = default;  // ends the thread

    virtual const std::shared_ptr<runtime::world>& world() noexcept = 0;

    /// Runs a coroutine, which does not throw, to its end on the calling thread. From any number of
    /// threads at a time.
    virtual void run(runtime::awaitable<void> what) = 0;

    /// See pool_options.
    static runtime::stream_ptr make_blocking(runtime::stream_ptr from);
};

}  // namespace holdfast::api
