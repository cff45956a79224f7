#pragma once
#include <cstdio>
#include <cstdlib>

/// A property that every input must have. libFuzzer takes the abort for a finding and keeps the
/// input.
#define REQUIRE(property)                                                               \
    do {                                                                                \
        if (!(property)) {                                                              \
            std::fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #property); \
            std::abort();                                                               \
        }                                                                               \
    } while (false)
