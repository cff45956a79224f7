#include "client/copies/copy_tracker.hpp"

#include <malloc.h>

#include <algorithm>
#include <array>

namespace holdfast::copy_test {

namespace {

struct range {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
};

// Plain memory: nothing here may allocate or copy.
std::array<range, 256> tracked;
std::size_t tracked_count = 0;
int counted = 0;
int pauses = 0;

std::uintptr_t address(const void* p) noexcept
{
    return reinterpret_cast<std::uintptr_t>(p);
}

bool is_tracked(const void* from, std::size_t size) noexcept
{
    const range wanted{address(from), address(from) + size};
    for (std::size_t i = 0; i < tracked_count; ++i)
        if (tracked[i].begin < wanted.end && wanted.begin < tracked[i].end)
            return true;
    return false;
}

void add(const void* begin, std::size_t size) noexcept
{
    if (tracked_count < tracked.size())
        tracked[tracked_count++] = {address(begin), address(begin) + size};
}

void copied(const void* to, const void* from, std::size_t size) noexcept
{
    if (size < large || to == from || pauses != 0 || !is_tracked(from, size))
        return;
    ++counted;
    add(to, size);
}

}  // namespace

void track(std::span<const std::uint8_t> bytes)
{
    add(bytes.data(), bytes.size());
}

int copies()
{
    return counted;
}

void reset()
{
    tracked_count = 0;
    counted = 0;
}

at_the_socket::at_the_socket()
{
    ++pauses;
}

at_the_socket::~at_the_socket()
{
    --pauses;
}

}  // namespace holdfast::copy_test

extern "C" {

void* __real_memcpy(void* to, const void* from, std::size_t size);
void* __real_memmove(void* to, const void* from, std::size_t size);
void* __real_realloc(void* block, std::size_t size);

void* __wrap_memcpy(void* to, const void* from, std::size_t size)
{
    holdfast::copy_test::copied(to, from, size);
    return __real_memcpy(to, from, size);
}

void* __wrap_memmove(void* to, const void* from, std::size_t size)
{
    holdfast::copy_test::copied(to, from, size);
    return __real_memmove(to, from, size);
}

void* __wrap_realloc(void* block, std::size_t size)
{
    const auto before = reinterpret_cast<std::uintptr_t>(block);
    const std::size_t kept = block == nullptr ? 0 : std::min(malloc_usable_size(block), size);
    void* const moved = __real_realloc(block, size);
    holdfast::copy_test::copied(moved, reinterpret_cast<const void*>(before), kept);
    return moved;
}
}
