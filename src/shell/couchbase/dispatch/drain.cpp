#include "shell/couchbase/dispatch/drain.hpp"

#include "holdfast/couchbase/errc.hpp"
#include "runtime/wait.hpp"

namespace holdfast::shell::couchbase {

runtime::awaitable<void> give_up_late(runtime::world& in, std::vector<late_requests> all)
{
    const drain_time limit{in.steady_now()};
    while (!all.empty()) {
        const auto end = co_await runtime::sleep_until(in, in.steady_now() + drain_time::step);
        if (end == runtime::wait_end::cancelled)
            co_return;
        const time_point now = in.steady_now();
        std::erase_if(all, [&](const late_requests& one) {
            if (!one.are_in_flight())
                return true;
            if (!limit.is_over(now, one.connection().last_activity()))
                return false;
            one.give_up(error{holdfast::couchbase::errc::request_canceled,
                              "another node has the vbucket now, and this one does not answer"});
            return true;
        });
    }
}

}  // namespace holdfast::shell::couchbase
