#include "probe.hpp"
#include "witness.hpp"

namespace toolchain {
namespace {

template <class Function>
task<int> call(Function function)
{
    co_await hop();
    co_return function();
}

task<int> captures_a_class_by_value()
{
    witness w;
    co_return co_await call([w] { return 7; });
}

task<int> captures_a_class_by_move()
{
    witness w;
    co_return co_await call([w = std::move(w)] { return 7; });
}

task<int> captures_a_class_by_reference()
{
    witness w;
    co_return co_await call([&w] { return static_cast<void>(w), 7; });
}

task<int> captures_a_number()
{
    int n = 7;
    co_return co_await call([n] { return n; });
}

task<int> named_then_moved()
{
    witness w;
    auto function = [w] { return 7; };
    co_return co_await call(std::move(function));
}

task<int> called_at_once()
{
    witness w;
    co_return co_await [w]() -> task<int> {
        co_await hop();
        co_return 7;
    }();
}

task<int> called_by_its_name()
{
    witness w;
    const auto function = [w]() -> task<int> {
        co_await hop();
        co_return 7;
    };
    co_return co_await function();
}

constexpr probe all[] = {
    {"captures_a_class_by_value",     captures_a_class_by_value,     1, gcc_12_2::wrong},
    {"captures_a_class_by_move",      captures_a_class_by_move,      1, gcc_12_2::wrong},
    {"captures_a_class_by_reference", captures_a_class_by_reference, 1, gcc_12_2::right},
    {"captures_a_number",             captures_a_number,             1, gcc_12_2::right},
    {"named_then_moved",              named_then_moved,              1, gcc_12_2::right},
    {"called_at_once",                called_at_once,                1, gcc_12_2::wrong},
    {"called_by_its_name",            called_by_its_name,            1, gcc_12_2::right},
};

}  // namespace

extern constexpr rule lambdas{
    "lambdas", "co_await f([p] {...}): name a lambda first if it captures what has a destructor",
    all};

}  // namespace toolchain
