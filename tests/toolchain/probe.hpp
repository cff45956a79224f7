#pragma once
#include "task.hpp"

#include <span>

namespace toolchain {

/// What g++ 12.2 makes of a case. Every other compiler in use here gets them all right.
enum class gcc_12_2 { right, wrong };

/// One way to write something in a coroutine. It must return 7 after a known number of suspensions,
/// with every witness accounted for.
struct probe {
    const char* name;
    task<int> (*run)();
    int suspensions;
    gcc_12_2 outcome;
};

/// Probes that share one rule of the house.
struct rule {
    const char* name;
    const char* says;
    std::span<const probe> probes;
};

extern const rule conditions;
extern const rule temporaries;
extern const rule lambdas;
extern const rule awaited_values;

}  // namespace toolchain
