#pragma once
#include <malloc.h>

#include <cstddef>

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define HOLDFAST_COUNTS_BY_SANITIZER
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();
#endif
#endif

namespace holdfast::lab::hostile {

/// Memory that this process has asked for and not given back.
inline std::size_t live_bytes()
{
#ifdef HOLDFAST_COUNTS_BY_SANITIZER
    return __sanitizer_get_current_allocated_bytes();
#else
    const struct mallinfo2 facts = mallinfo2();
    return facts.uordblks + facts.hblkhd;
#endif
}

}  // namespace holdfast::lab::hostile
