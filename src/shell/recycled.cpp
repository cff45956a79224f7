#include "shell/recycled.hpp"

#include <utility>

namespace holdfast::shell {

namespace {

struct kept_block {
    kept_block* next;
};

/// The blocks of a thread. Its objects may be given back by another thread, which then keeps them.
struct kept_blocks {
    kept_block* first = nullptr;
    std::size_t count = 0;

    kept_blocks() = default;
    kept_blocks(const kept_blocks&) = delete;
    kept_blocks& operator=(const kept_blocks&) = delete;
    ~kept_blocks()
    {
        count =
            block_store::most_kept;  // a block that is given back while the thread ends is freed
        while (first != nullptr)
            ::operator delete(std::exchange(first, first->next));
    }
};

thread_local kept_blocks kept;

}  // namespace

void* block_store::take()
{
    if (kept.first == nullptr)
        return ::operator new(block_size);
    --kept.count;
    return std::exchange(kept.first, kept.first->next);
}

void block_store::give_back(void* block) noexcept
{
    if (kept.count >= most_kept)
        return ::operator delete(block);
    kept.first = ::new (block) kept_block{kept.first};
    ++kept.count;
}

}  // namespace holdfast::shell
