#include "runtime/wait.hpp"
#include "shell/pool/pool.hpp"

#include <chrono>

/// The memory of idle connections.
namespace holdfast::shell {

namespace {

/// A cursor with large batches needs its buffers again at once. They are given back when their
/// connection was not used for so long.
constexpr std::chrono::seconds trim_after{1};

}  // namespace

/// False if there is nothing left to give back.
bool pool::trim_idle(time_point now)
{
    const std::scoped_lock lock{mutex_};
    trimming_ = false;
    for (auto& [id, one] : entries_) {
        if (!one.idle || !one.idle->has_large_buffers())
            continue;
        if (now - one.idle_since >= trim_after)
            one.idle->release_large_buffers();
        else
            trimming_ = true;
    }
    return trimming_;
}

runtime::awaitable<void> pool::trim(std::weak_ptr<pool> which, runtime::world& in)
{
    for (bool more = true; more;) {
        const runtime::wait_end end = co_await runtime::sleep_until(in,
                                                                    in.steady_now() + trim_after);
        const auto self = which.lock();
        if (end == runtime::wait_end::cancelled || !self)
            co_return;
        more = self->trim_idle(in.steady_now());
    }
}

}  // namespace holdfast::shell
