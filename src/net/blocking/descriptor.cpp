#include "net/blocking/descriptor.hpp"

#include "runtime/alarm.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <ctime>

namespace holdfast::net {

descriptor::~descriptor()
{
    if (number_ >= 0)
        ::close(number_);
}

wake_up::wake_up() : event_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {}

void wake_up::wake() noexcept
{
    awake_.store(true, std::memory_order_release);
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(event_.get(), &one, sizeof one);
}

error_code last_error() noexcept
{
    return {errno, boost::system::system_category()};
}

bool poll_until(std::span<pollfd> which, time_point until) noexcept
{
    for (;;) {
        timespec left{};
        if (until != runtime::never) {
            using namespace std::chrono;
            const time_point now = steady_clock::now();
            const auto rest = until > now ? duration_cast<nanoseconds>(until - now) : 0ns;
            left.tv_sec = static_cast<std::time_t>(rest / 1s);
            left.tv_nsec = static_cast<long>((rest % 1s).count());
        }
        const int ready = ::ppoll(which.data(), which.size(),
                                  until == runtime::never ? nullptr : &left, nullptr);
        if (ready > 0)
            return true;
        const bool in_time = until == runtime::never || until > std::chrono::steady_clock::now();
        if (!in_time)
            return false;
    }
}

}  // namespace holdfast::net
