#pragma once
#include "runtime/awaitable.hpp"
#include "runtime/short_mutex.hpp"

#include <boost/asio/execution_context.hpp>

#include <memory>
#include <mutex>

namespace holdfast::runtime {

/// Knows all that wait on one execution context, because the context does not: when it is destroyed
/// with coroutines still waiting, they have to be destroyed with it.
class waiting_room final : public asio::execution_context::service {
public:
    using key_type = waiting_room;
    static inline asio::execution_context::id id;

    /// A waiting coroutine, in a list with the others.
    class guest {
    public:
        guest() = default;
        guest(const guest&) = delete;
        guest& operator=(const guest&) = delete;

    protected:
        ~guest() = default;

    private:
        friend class waiting_room;

        /// Called by the room, with its mutex held, before drop(): what keeps the guest alive until
        /// then, if it has another owner besides its coroutine.
        virtual std::shared_ptr<void> keep_alive() noexcept { return {}; }
        /// The context is being destroyed, and the guest is no longer in the room: it destroys its
        /// coroutine.
        virtual void drop() noexcept = 0;

        guest* before_ = nullptr;
        guest* after_ = nullptr;
        bool inside_ = false;
    };

    explicit waiting_room(asio::execution_context& owner) : service{owner} {}
    ~waiting_room() override;

    /// The room of the context behind an executor. A thread remembers the last one, since a search
    /// among the services of a context costs as much as a whole wait.
    static waiting_room& of(const executor& here);

    void enter(guest& one) noexcept
    {
        const std::scoped_lock lock{mutex_};
        link(one);
    }

    /// False if the room has taken out the guest already, to drop it.
    bool leave(guest& one) noexcept
    {
        const std::scoped_lock lock{mutex_};
        return unlink(one);
    }

    /// The same, and calls the function before the context can be destroyed.
    template <class Function>
    bool leave(guest& one, Function&& before_destruction)
    {
        const std::scoped_lock lock{mutex_};
        if (!unlink(one))
            return false;
        before_destruction();
        return true;
    }

private:
    void shutdown() noexcept override;
    void link(guest& one) noexcept;
    bool unlink(guest& one) noexcept;

    short_mutex mutex_;
    guest* first_ = nullptr;
};

}  // namespace holdfast::runtime
