#include "shell/spare_buffers.hpp"

#include "shell/recycled.hpp"

#include <array>
#include <cstddef>
#include <utility>

namespace holdfast::shell {

namespace {

struct kept_buffers {
    std::array<bson::byte_buffer, block_store::most_kept> all = {};
    std::size_t count = 0;
    bool ended = false;

    kept_buffers() = default;
    kept_buffers(const kept_buffers&) = delete;
    kept_buffers& operator=(const kept_buffers&) = delete;
    ~kept_buffers() { ended = true; }  // what is given back while the thread ends is freed
};

thread_local kept_buffers spare;

}  // namespace

bson::byte_buffer spare_buffers::take() noexcept
{
    if (spare.count == 0 || spare.ended)
        return {};
    return std::move(spare.all[--spare.count]);
}

void spare_buffers::give_back(bson::byte_buffer&& used) noexcept
{
    if (used.capacity() == 0 || used.capacity() > largest || spare.count == spare.all.size() ||
        spare.ended)
        return;
    used.clear();
    spare.all[spare.count++] = std::move(used);
}

}  // namespace holdfast::shell
