#include "shell/retry_loop.hpp"

namespace holdfast::shell {

runtime::awaitable<pause_end> pause(runtime::world& in, duration wait, core::deadline until,
                                    runtime::event* ended)
{
    const auto planned = core::deadline::after(in.steady_now(), wait);
    const auto ends = core::deadline::sooner(planned, until);
    runtime::wait_end end = runtime::wait_end::timed_out;
    if (ended != nullptr)
        end = co_await ended->wait(0, ends.when());
    else
        end = co_await runtime::sleep_until(in, ends.when());
    if (end == runtime::wait_end::cancelled)
        co_return pause_end::cancelled;
    // The clock decides: a process that stood still wakes late.
    co_return until.expired(in.steady_now()) ? pause_end::deadline_came : pause_end::over;
}

}  // namespace holdfast::shell
