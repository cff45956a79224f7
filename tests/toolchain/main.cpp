// Tries each probe in a process of its own, since a miscompiled coroutine may crash or hang, and
// fails when the compiler has changed its mind about any of them: for the worse, because our code
// is then in danger, or for the better, because a rule of the house may then go.
#include "probe.hpp"
#include "witness.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace toolchain {
namespace {

#if defined(__clang__)
constexpr bool known = true, is_gcc_12_2 = false;
#else
constexpr bool known = __GNUC__ == 12 && __GNUC_MINOR__ == 2, is_gcc_12_2 = known;
#endif

constexpr unsigned time_limit_seconds = 5;
constexpr int ctest_skips = 77;

bool went_well(const probe& p)
{
    const std::optional<int> value = p.run().run();
    return value == 7 && suspensions == p.suspensions && witness::all_well();
}

/// True if the probe's process ends by itself and reports no fault.
bool survives(const probe& p)
{
    const pid_t child = fork();
    if (child == 0) {
        alarm(time_limit_seconds);
        if (std::freopen("/dev/null", "w", stderr) == nullptr)  // it may die noisily
            std::_Exit(EXIT_FAILURE);
        std::_Exit(went_well(p) ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == EXIT_SUCCESS;
}

int count_surprises(const rule& r)
{
    int surprises = 0;
    for (const probe& p : r.probes) {
        const bool expected = !is_gcc_12_2 || p.outcome == gcc_12_2::right;
        const bool right = survives(p);
        if (known && right == expected)
            continue;
        ++surprises;
        std::printf("%s.%s: this compiler gets it %s\n    the rule: %s\n", r.name, p.name,
                    right ? "right" : "WRONG", r.says);
    }
    return surprises;
}

}  // namespace
}  // namespace toolchain

int main()
{
    using namespace toolchain;
    int surprises = 0;
    for (const rule* r : {&conditions, &temporaries, &lambdas, &awaited_values})
        surprises += count_surprises(*r);
    if (!known) {
        std::puts("nothing is known of this compiler; the above is what it does");
        return ctest_skips;
    }
    if (surprises != 0)
        std::puts("These outcomes carry the coroutine rules in CONTRIBUTING.md and tools/tidy.py.");
    return surprises == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
