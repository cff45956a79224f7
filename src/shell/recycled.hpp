#pragma once
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define HOLDFAST_KEEP_BLOCKS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HOLDFAST_KEEP_BLOCKS 0
#endif
#endif
#ifndef HOLDFAST_KEEP_BLOCKS
#define HOLDFAST_KEEP_BLOCKS 1
#endif

namespace holdfast::shell {

/// Blocks of one size, which a thread keeps for its next operation. An operation with a fast path
/// must fit, together with the state of its waits: a larger one would pay for memory each time.
struct block_store {
    static constexpr std::size_t block_size = 2048;
    /// By a thread. Nothing under a sanitizer, which must see when a block is used after its end.
    static constexpr std::size_t most_kept = HOLDFAST_KEEP_BLOCKS ? 64 : 0;

    static void* take();
    static void give_back(void* block) noexcept;
};

/// An object on the heap, for state that every operation needs and that is too large for the frame
/// of a coroutine: Asio hands the memory of a frame to the next one only up to 1,020 bytes,
/// and a larger frame costs as many instructions as building a message does.
template <class T>
class recycled {
public:
    template <class... Arguments>
    static recycled make(Arguments&&... arguments)
    {
        memory block{allocate()};
        T* const made = ::new (block.get()) T{std::forward<Arguments>(arguments)...};
        static_cast<void>(block.release());
        return recycled{made};
    }

    T& operator*() const noexcept { return *held_; }

    /// Whether its memory is kept for the next one, or comes from the heap each time.
    static constexpr bool fits = sizeof(T) <= block_store::block_size;

private:
    static_assert(alignof(T) <= alignof(std::max_align_t));

    static void* allocate()
    {
        if constexpr (fits)
            return block_store::take();
        else
            return ::operator new(sizeof(T));
    }
    struct freed {
        void operator()(void* block) const noexcept
        {
            if constexpr (fits)
                block_store::give_back(block);
            else
                ::operator delete(block);
        }
    };
    struct destroyed {
        void operator()(T* object) const noexcept
        {
            std::destroy_at(object);
            freed{}(object);
        }
    };
    using memory = std::unique_ptr<void, freed>;

    explicit recycled(T* made) noexcept : held_{made} {}

    std::unique_ptr<T, destroyed> held_;
};

}  // namespace holdfast::shell
