#pragma once
#include "runtime/wait.hpp"
#include "runtime/waiting_room.hpp"

#include <boost/asio/use_awaitable.hpp>

#include <mutex>
#include <optional>
#include <utility>

namespace holdfast::runtime {

class handoff_source_base;

/// The part of a handoff that does not depend on the type of its value.
class handoff_base : private waiting_room::guest {
public:
    /// Owns a waiter whose wait has ended, and resumes it when it goes: after the mutex, since the
    /// coroutine runs inside. Resumed this way, at most so many are nested in one another.
    class [[nodiscard]] resumption {
    public:
        resumption() = default;
        resumption(resumption&& other) noexcept { *this = std::move(other); }
        resumption& operator=(resumption&& other) noexcept
        {
            std::swap(ended_, other.ended_);
            std::swap(here_, other.here_);
            return *this;
        }
        ~resumption()
        {
            if (ended_ != nullptr)
                run();
        }
        explicit operator bool() const noexcept { return ended_ != nullptr; }

    private:
        friend class handoff_base;
        resumption(handoff_base& of, const executor& here) noexcept : ended_{&of}, here_{&here} {}
        void run() noexcept;

        handoff_base* ended_ = nullptr;
        const executor* here_ = nullptr;  // that of the code which has ended the wait
    };
    static constexpr unsigned most_nested = 32;

    /// Waits until the source that expect() has named ends the wait, or the operation is cancelled.
    /// Once after each expect(). Never throws.
    awaitable<wait_end> wait();

    /// The source cannot end the wait any more, and sees that. Not while the coroutine waits.
    void withdraw() noexcept;

protected:
    handoff_base() = default;
    /// Only while nothing is expected: the state of an operation is moved before it begins.
    handoff_base(handoff_base&& idle) noexcept;
    ~handoff_base();

    void expect(handoff_source_base& from, std::mutex& guard) noexcept;

private:
    friend class handoff_source_base;

    struct canceller;
    struct initiate;
    struct queued;
    /// One pointer: it owns the waiting coroutine.
    using handler = asio::async_result<asio::use_awaitable_t<>, void(wait_end)>::handler_type;

    void begin(handler to_resume);
    bool runs_inline_on(const executor* there) const noexcept;
    resumption end(wait_end end, const executor* there);
    void cancel() noexcept;
    void unlink(wait_end end) noexcept;
    void post(const executor& to) noexcept;
    void resume();
    void drop() noexcept override;

    // The waiter's own, and after the end of the wait that of its resumption.
    std::mutex* guard_ = nullptr;  // null: nothing is expected
    canceller* canceller_ = nullptr;
    std::optional<handler> waiting_;

    executor here_;  // where the coroutine runs; for the source only while it waits

    // Under the mutex.
    handoff_source_base* source_ = nullptr;
    waiting_room* room_ = nullptr;  // null unless it waits
    bool ended_ = false;
    wait_end end_ = wait_end::cancelled;
};

class handoff_source_base {
public:
    handoff_source_base() = default;
    handoff_source_base(const handoff_source_base&) = delete;
    handoff_source_base& operator=(const handoff_source_base&) = delete;

    /// False if the wait has ended, for whatever reason, or its coroutine was destroyed.
    bool expected() const noexcept { return waiter_ != nullptr; }

    /// Whether a value that is handed over now, by code that runs on this executor, is used while
    /// the resumption runs. Otherwise, also if the wait has yet to begin, it must own what it
    /// refers to.
    bool resumes_inline(const executor& here) const noexcept
    {
        return waiter_ != nullptr && waiter_->runs_inline_on(&here);
    }

    /// Ends the wait without a value. The coroutine is resumed by its executor, never inline, so
    /// that an alarm may call this.
    void end(wait_end end) noexcept
    {
        if (waiter_ != nullptr)
            static_cast<void>(waiter_->end(end, nullptr));
    }

protected:
    /// Nothing may be expected any more: end() it before.
    ~handoff_source_base() = default;

    handoff_base::resumption end_with_value(const executor& here)
    {
        return waiter_->end(wait_end::notified, &here);
    }

    handoff_base* waiter_ = nullptr;

private:
    friend class handoff_base;
};

template <class T>
class handoff;

/// The other end of a handoff, for the slot of a connection: it ends the wait, unless the waiter is
/// gone, which it sees. All its members are called with the mutex held that expect() was given.
template <class T>
class handoff_source : public handoff_source_base {
public:
    using handoff_source_base::end;

    /// Hands over the value, if it is still expected. The coroutine is resumed when the resumption
    /// goes, if it runs on `here`, the executor of the caller; else by its own executor.
    handoff_base::resumption end(T value, const executor& here)
    {
        if (!expected())
            return {};
        static_cast<handoff<T>*>(waiter_)->value_.emplace(std::move(value));
        return end_with_value(here);
    }
};

/// One coroutine that waits for one value, such as the reply to a request in flight. A suspension
/// is for all other waits; this costs a third of it, and allocates nothing: it lies in the memory
/// of the operation and is used again for each attempt. The wait ends once, by the first of
///   the source, with a value            notified, and take() has it
///   the source, without, at a deadline  timed_out, or what else it says
///   the operation's cancellation        cancelled
/// and the source may end it before it begins. The coroutine may be destroyed at any moment, by its
/// executor or otherwise; its source then expects nothing any more.
///
/// Both ends are guarded by one mutex, the short one that a connection has for its slots anyway.
/// An atomic state in here would not do: the source could not know whether the memory in which it
/// lies is still there. With the mutex, which the waiter takes to go, what a source sees is alive.
/// The mutex outlives both ends, and the code that calls a source keeps the mutex alive meanwhile,
/// since the coroutine may run to its end on another thread. Order of locks: the clock's, this one,
/// the waiting room's.
template <class T>
class handoff final : public handoff_base {
public:
    /// From now on `from` may end the wait that follows. With the mutex held; not while this is
    /// expected already.
    void expect(handoff_source<T>& from, std::mutex& guard) noexcept
    {
        value_.reset();
        handoff_base::expect(from, guard);
    }

    /// The value; only after `notified`, and once.
    T take() { return *std::exchange(value_, std::nullopt); }

private:
    friend class handoff_source<T>;

    std::optional<T> value_;
};

}  // namespace holdfast::runtime
