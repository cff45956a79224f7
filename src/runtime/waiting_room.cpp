#include "runtime/waiting_room.hpp"

#include <boost/asio/execution/context_as.hpp>

#include <atomic>
#include <cstdint>

namespace holdfast::runtime {
namespace {

/// Rooms that were destroyed so far, by all threads: a context may lie where another one was.
std::atomic<std::uint64_t> rooms_gone = 0;

struct last_room {
    const asio::execution_context* context = nullptr;
    waiting_room* room = nullptr;
    std::uint64_t gone = 0;
};

thread_local constinit last_room last_found;

}  // namespace

waiting_room::~waiting_room()
{
    ++rooms_gone;
}

waiting_room& waiting_room::of(const executor& here)
{
    asio::execution_context& context = asio::query(
        here, asio::execution::context_as<asio::execution_context&>);
    const std::uint64_t gone = rooms_gone.load(std::memory_order_acquire);
    if (last_found.context != &context || last_found.gone != gone)
        last_found = {&context, &asio::use_service<waiting_room>(context), gone};
    return *last_found.room;
}

void waiting_room::shutdown() noexcept
{
    for (;;) {
        guest* one = nullptr;
        std::shared_ptr<void> kept;
        {
            const std::scoped_lock lock{mutex_};
            one = first_;
            if (one == nullptr)
                return;
            kept = one->keep_alive();
            unlink(*one);
        }
        // Its coroutine is destroyed, and others may wait for just that.
        one->drop();
    }
}

void waiting_room::link(guest& one) noexcept
{
    one.inside_ = true;
    one.after_ = first_;
    if (first_ != nullptr)
        first_->before_ = &one;
    first_ = &one;
}

bool waiting_room::unlink(guest& one) noexcept
{
    if (!one.inside_)
        return false;
    if (first_ == &one)
        first_ = one.after_;
    if (one.before_ != nullptr)
        one.before_->after_ = one.after_;
    if (one.after_ != nullptr)
        one.after_->before_ = one.before_;
    one.before_ = one.after_ = nullptr;
    one.inside_ = false;
    return true;
}

}  // namespace holdfast::runtime
