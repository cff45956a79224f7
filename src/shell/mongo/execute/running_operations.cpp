#include "shell/mongo/execute/running_operations.hpp"

namespace holdfast::shell::mongo {

runtime::awaitable<void> running_operations::ended(time_point until)
{
    awaited_.store(true);
    for (;;) {
        const std::uint64_t seen = one_ended_.count();
        if (count_.load() == 0)
            co_return;
        const runtime::wait_end end = co_await one_ended_.wait(seen, until);
        if (end != runtime::wait_end::notified)
            co_return;
    }
}

}  // namespace holdfast::shell::mongo
