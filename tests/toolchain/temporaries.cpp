#include "probe.hpp"
#include "witness.hpp"

#include <chrono>
#include <string_view>

namespace toolchain {
namespace {

using namespace std::chrono_literals;

struct options {
    witness name;
    std::optional<witness> comment = {};
    int n = 3;
};

struct plain_options {
    std::string_view name = {};
    std::chrono::milliseconds timeout = 5ms;
    std::optional<int> n = {};
};

class with_constructor {
public:
    explicit(false) with_constructor(witness name, int n) : name_{std::move(name)}, n_{n} {}

private:
    witness name_;
    [[maybe_unused]] int n_;
};

template <class T>
task<int> take(T)
{
    co_await hop();
    co_return 7;
}
task<int> take_options(options given) { return take(std::move(given)); }
task<int> take_plain(plain_options given) { return take(given); }
task<int> take_constructed(with_constructor given) { return take(std::move(given)); }
task<int> take_reference(const witness&)
{
    co_await hop();
    co_return 7;
}
task<int> take_options_by_reference(const options&)
{
    co_await hop();
    co_return 7;
}
options made_by_a_function() { return {.name = witness{}, .n = 4}; }

task<int> class_by_value() { co_return co_await take(witness{}); }
task<int> class_by_reference() { co_return co_await take_reference(witness{}); }
task<int> class_with_constructor() { co_return co_await take_constructed({witness{}, 4}); }

task<int> aggregate_designated()
{
    co_return co_await take_options({.name = witness{}, .n = 4});
}

task<int> aggregate_with_its_type()
{
    co_return co_await take_options(options{.name = witness{}, .comment = witness{}});
}

task<int> aggregate_positional()
{
    co_return co_await take_options(options{witness{}, witness{}, 4});
}

task<int> aggregate_all_defaulted() { co_return co_await take_options({.name = {}, .n = 4}); }

task<int> aggregate_by_reference()
{
    co_return co_await take_options_by_reference({.name = witness{}, .n = 4});
}

task<int> aggregate_trivially_destructible()
{
    co_return co_await take_plain({.name = "x", .timeout = 3ms, .n = 4});
}

task<int> aggregate_named_then_moved()
{
    options named{.name = witness{}, .n = 4};
    co_return co_await take_options(std::move(named));
}

task<int> aggregate_made_by_a_function()
{
    co_return co_await take_options(made_by_a_function());
}

task<int> aggregate_in_another_statement()
{
    std::vector<options> all;
    all.push_back({.name = witness{}, .n = 4});
    co_await hop();
    co_return 7;
}

constexpr probe all[] = {
    {"class_by_value",                   class_by_value,                   1, gcc_12_2::right},
    {"class_by_reference",               class_by_reference,               1, gcc_12_2::right},
    {"class_with_constructor",           class_with_constructor,           1, gcc_12_2::right},
    {"aggregate_designated",             aggregate_designated,             1, gcc_12_2::wrong},
    {"aggregate_with_its_type",          aggregate_with_its_type,          1, gcc_12_2::wrong},
    {"aggregate_positional",             aggregate_positional,             1, gcc_12_2::wrong},
    {"aggregate_all_defaulted",          aggregate_all_defaulted,          1, gcc_12_2::wrong},
    {"aggregate_by_reference",           aggregate_by_reference,           1, gcc_12_2::wrong},
    {"aggregate_trivially_destructible", aggregate_trivially_destructible, 1, gcc_12_2::right},
    {"aggregate_named_then_moved",       aggregate_named_then_moved,       1, gcc_12_2::right},
    {"aggregate_made_by_a_function",     aggregate_made_by_a_function,     1, gcc_12_2::right},
    {"aggregate_in_another_statement",   aggregate_in_another_statement,   1, gcc_12_2::right},
};

}  // namespace

extern constexpr rule temporaries{
    "temporaries", "co_await f({.a = s}): name an aggregate first if any member has a destructor",
    all};

}  // namespace toolchain
