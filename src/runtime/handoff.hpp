#pragma once
#include "runtime/short_mutex.hpp"
#include "runtime/wait.hpp"
#include "runtime/waiting_room.hpp"

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cassert>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

namespace holdfast::runtime {

class handoff_source_base;

/// A coroutine that waits: its completion handler, of either of the two types that Asio has for it.
/// Each is a single pointer, which owns the coroutine.
class parked_coroutine {
public:
    parked_coroutine() = default;
    parked_coroutine(const parked_coroutine&) = delete;
    parked_coroutine& operator=(const parked_coroutine&) = delete;
    ~parked_coroutine() { drop(); }

    template <class Handler>
    void put(Handler what) noexcept
    {
        static_assert(sizeof(Handler) <= sizeof place_ && alignof(Handler) <= alignof(void*));
        assert(use_ == nullptr);
        ::new (static_cast<void*>(place_)) Handler{std::move(what)};
        use_ = &use<Handler>;
    }
    /// Goes on with it; whatever this is part of may be gone afterwards.
    void resume(wait_end end) { std::exchange(use_, nullptr)(place_, &end); }
    void drop() noexcept
    {
        if (use_ != nullptr)
            std::exchange(use_, nullptr)(place_, nullptr);
    }

private:
    template <class Handler>
    static void use(std::byte* place, const wait_end* resume_with)
    {
        auto* const kept = std::launder(reinterpret_cast<Handler*>(place));
        Handler taken{std::move(*kept)};
        std::destroy_at(kept);
        if (resume_with == nullptr)
            return;
        if constexpr (std::is_invocable_v<Handler, wait_end>)
            std::move(taken)(*resume_with);
        else
            std::move(taken)();
    }

    alignas(void*) std::byte place_[sizeof(void*)];
    void (*use_)(std::byte* place, const wait_end* resume_with) = nullptr;
};

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

    /// The same without a frame of its own, for the way of every operation:
    ///     co_await waiter.suspend();
    ///     use(waiter.ended_by());
    auto suspend()
    {
        assert(guard_ != nullptr);
        return asio::async_initiate<const asio::deferred_t, void()>(initiate{}, asio::deferred,
                                                                    this);
    }
    wait_end ended_by() const noexcept { return end_; }

    /// The source cannot end the wait any more, and sees that. Not while the coroutine waits.
    void withdraw() noexcept;

protected:
    handoff_base() = default;
    /// Only while nothing is expected: the state of an operation is moved before it begins.
    handoff_base(handoff_base&& idle) noexcept;
    ~handoff_base();

    void expect(handoff_source_base& from, short_mutex& guard) noexcept;

private:
    friend class handoff_source_base;

    struct canceller;
    struct queued;
    struct initiate {
        template <class Handler>
        void operator()(Handler to_resume, handoff_base* waiter) const
        {
            const bool cancelled = to_resume.get_cancellation_state().cancelled() !=
                                   asio::cancellation_type::none;
            const asio::cancellation_slot slot = to_resume.get_cancellation_slot();
            waiter->here_ = to_resume.get_executor();
            waiter->waiting_.put(std::move(to_resume));
            waiter->begin(slot, cancelled);
        }
    };

    void begin(asio::cancellation_slot slot, bool cancelled);
    bool runs_inline_on(const executor* there) const noexcept;
    resumption end(wait_end end, const executor* there);
    resumption end_inline(wait_end end, const executor& there);
    void cancel() noexcept;
    void unlink(wait_end end) noexcept;
    void post(const executor& to) noexcept;
    void resume();
    void drop() noexcept override;

    // The waiter's own, and after the end of the wait that of its resumption.
    short_mutex* guard_ = nullptr;  // null: nothing is expected
    canceller* canceller_ = nullptr;
    parked_coroutine waiting_;

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

    handoff_base::resumption end_inline_with_value(const executor& here)
    {
        return waiter_->end_inline(wait_end::notified, here);
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

    /// The same where resumes_inline(here) has just been true, with the value made in its place.
    template <class... Arguments>
    handoff_base::resumption end_inline(const executor& here, Arguments&&... of_value)
    {
        static_cast<handoff<T>*>(waiter_)->value_.emplace(std::forward<Arguments>(of_value)...);
        return end_inline_with_value(here);
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
    handoff() = default;
    handoff(handoff&&) noexcept = default;
    /// While the place of the value is still there: a source on another thread may be about to put
    /// one into it.
    ~handoff() { withdraw(); }

    /// From now on `from` may end the wait that follows. With the mutex held; not while this is
    /// expected already.
    void expect(handoff_source<T>& from, short_mutex& guard) noexcept
    {
        value_.reset();
        handoff_base::expect(from, guard);
    }

    /// The value; only after `notified`, and once.
    T take()
    {
        T taken = *std::move(value_);
        value_.reset();
        return taken;
    }
    /// The same where it lies, until the next expect().
    T& value() noexcept { return *value_; }

private:
    friend class handoff_source<T>;

    std::optional<T> value_;
};

}  // namespace holdfast::runtime
