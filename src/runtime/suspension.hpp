#pragma once
#include "runtime/alarm.hpp"
#include "runtime/wait.hpp"
#include "runtime/waiting_room.hpp"

#include <boost/asio/cancellation_signal.hpp>

#include <memory>
#include <mutex>

namespace holdfast::runtime {

/// One coroutine that waits, for whatever it may be. Several threads may try to end the wait, even
/// before it has begun; the first one does, and the coroutine resumes with its reason. Owned by the
/// coroutine and by all that may end the wait.
class suspension final : public alarm,
                         public std::enable_shared_from_this<suspension>,
                         private waiting_room::guest {
public:
    /// Must not be set as an alarm any more.
    ~suspension() = default;

    /// Ends the wait; false if it had ended already.
    bool end(wait_end wait_result) noexcept;
    void ring() noexcept override { end(wait_end::timed_out); }

    /// Waits until end() is called, or the operation is cancelled. Once.
    awaitable<wait_end> suspend();

private:
    /// What resumes the coroutine, and owns it until then. Asio's any_completion_handler (1.81)
    /// would do, if taking one by value did not wrap it in itself without end.
    struct handler {
        virtual ~handler() = default;
        virtual void resume(wait_end end) = 0;
    };
    using handler_ptr = std::unique_ptr<handler>;
    template <class Handler>
    struct handler_of;
    struct initiate;

    void begin(handler_ptr to_resume, asio::cancellation_slot slot);
    void resume(handler_ptr waiting, wait_end end);
    std::shared_ptr<void> keep_alive() noexcept override { return shared_from_this(); }
    void drop() noexcept override;

    std::mutex mutex_;
    handler_ptr waiting_;
    executor here_;  // where its coroutine runs
    waiting_room* room_ = nullptr;
    bool ended_ = false;
    wait_end end_ = wait_end::cancelled;
};

}  // namespace holdfast::runtime
