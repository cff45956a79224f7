#pragma once
#include <cassert>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace holdfast::net {

/// Room for one completion handler of whatever type, which is called at most once. It asks for no
/// memory: this is on the way of every blocking operation.
class handler_slot {
public:
    handler_slot() = default;
    handler_slot(const handler_slot&) = delete;
    handler_slot& operator=(const handler_slot&) = delete;
    ~handler_slot() { drop(); }

    template <class Handler>
    void put(Handler what)
    {
        static_assert(sizeof(Handler) <= sizeof room_ && alignof(Handler) <= alignof(void*));
        assert(use_ == nullptr);
        ::new (static_cast<void*>(room_)) Handler{std::move(what)};
        use_ = &use<Handler>;
    }

    bool full() const noexcept { return use_ != nullptr; }

    /// Calls it. The slot is free before, so that the call can fill it again.
    void call()
    {
        assert(use_ != nullptr);
        use_(*this, true);
    }

    void drop()
    {
        if (use_ != nullptr)
            use_(*this, false);
    }

private:
    template <class Handler>
    static void use(handler_slot& slot, bool call)
    {
        auto* const kept = std::launder(reinterpret_cast<Handler*>(slot.room_));
        Handler taken{std::move(*kept)};
        std::destroy_at(kept);
        slot.use_ = nullptr;
        if (call)
            std::move(taken)();
    }

    alignas(void*) std::byte room_[4 * sizeof(void*)];
    void (*use_)(handler_slot&, bool call) = nullptr;
};

}  // namespace holdfast::net
