#pragma once
#include "runtime/alarm.hpp"

#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

namespace holdfast::runtime {

namespace asio = boost::asio;

/// An execution context without a reactor, a thread or a clock: functions are put in, by anybody,
/// and run one after the other, in that order, by the one thread that calls run_one(). The
/// simulator lives on it, and so does a blocking client, on the thread that called it.
class run_queue : public asio::execution_context {
public:
    class executor_type;

    run_queue() = default;
    ~run_queue();

    executor_type get_executor() noexcept;

    /// Runs the oldest function; false if there is none.
    bool run_one();

    /// Runs until there is none, also those that come meanwhile; gives their number.
    std::size_t run_ready();

    /// Blocks until there is a function to run or the time has come. True if there is one.
    bool wait_until(time_point when);

    bool empty() const;

    /// Drops what is queued and, by the services of the context, all that waits on it. Nothing runs
    /// on it afterwards. The destructor does the same.
    void stop();

private:
    struct task {
        task* next = nullptr;
        virtual void run() = 0;  // and is gone afterwards
        virtual ~task() = default;
    };
    template <class Function>
    struct task_of final : task {
        template <class F>
        explicit task_of(F&& f) : function{std::forward<F>(f)}
        {
        }
        void run() override
        {
            Function taken{std::move(function)};
            delete this;  // before the call: it may well put the next one into this memory
            std::move(taken)();
        }
        Function function;
    };

    void push(std::unique_ptr<task> what) noexcept;
    std::unique_ptr<task> pop() noexcept;

    mutable std::mutex mutex_;
    std::condition_variable arrived_;
    task* first_ = nullptr;
    task* last_ = nullptr;
    bool waiting_ = false;
    bool stopped_ = false;
};

/// Puts functions into the queue; never runs one by itself. It says that it might, all the same,
/// unless it was asked not to: a strand on top of it then runs at once what is dispatched from
/// inside it, and Asio's own handling of cancellation relies on that.
class run_queue::executor_type {
public:
    explicit executor_type(run_queue& queue, bool never_inline = false) noexcept
        : queue_{&queue}, never_{never_inline}
    {
    }

    template <class Function>
    void execute(Function&& what) const
    {
        using kept = std::decay_t<Function>;
        queue_->push(std::make_unique<task_of<kept>>(std::forward<Function>(what)));
    }

    asio::execution_context& query(asio::execution::context_t) const noexcept { return *queue_; }
    asio::execution::blocking_t query(asio::execution::blocking_t) const noexcept
    {
        if (never_)
            return asio::execution::blocking.never;
        return asio::execution::blocking.possibly;
    }
    executor_type require(asio::execution::blocking_t::never_t) const noexcept
    {
        return executor_type{*queue_, true};
    }
    executor_type require(asio::execution::blocking_t::possibly_t) const noexcept
    {
        return executor_type{*queue_};
    }

    friend bool operator==(executor_type, executor_type) = default;

private:
    run_queue* queue_;
    bool never_;
};

inline run_queue::executor_type run_queue::get_executor() noexcept
{
    return executor_type{*this};
}

}  // namespace holdfast::runtime
