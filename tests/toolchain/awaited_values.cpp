#include "probe.hpp"
#include "witness.hpp"

#include <tuple>

namespace toolchain {
namespace {

struct pair_of_witnesses { witness a, b; };

task<witness> make()
{
    co_await hop();
    co_return witness{};
}

template <class Pair>
task<Pair> make_two()
{
    co_await hop();
    co_return Pair{};
}

task<int> value_or_awaited_false()
{
    bool at_hand = false;
    const witness w = at_hand ? witness{} : co_await make();
    co_return 7;
}

task<int> value_or_awaited_true()
{
    bool at_hand = true;
    const witness w = at_hand ? witness{} : co_await make();
    co_return 7;
}

task<int> awaited_or_awaited()
{
    bool first = true;
    const witness w = first ? co_await make() : co_await make();
    co_return 7;
}

task<int> if_and_else()
{
    bool at_hand = false;
    std::optional<witness> w;
    if (at_hand)
        w.emplace();
    else
        w = co_await make();
    co_return 7;
}

task<int> aggregate_from_awaited()
{
    const pair_of_witnesses both{.a = co_await make(), .b = co_await make()};
    co_return 7;
}

task<pair_of_witnesses> return_aggregate_from_awaited()
{
    co_return pair_of_witnesses{.a = co_await make(), .b = {}};
}
task<int> returned_aggregate_from_awaited()
{
    const pair_of_witnesses both = co_await return_aggregate_from_awaited();
    co_return 7;
}

task<int> awaited_first_then_built()
{
    witness a = co_await make();
    witness b = co_await make();
    const pair_of_witnesses both{.a = std::move(a), .b = std::move(b)};
    co_return 7;
}

task<int> binding_of_a_pair()
{
    const auto [a, b] = co_await make_two<std::pair<witness, witness>>();
    co_await hop();
    co_return 7;
}

task<int> binding_of_a_tuple()
{
    const auto [a, b] = co_await make_two<std::tuple<witness, witness>>();
    co_await hop();
    co_return 7;
}

task<int> binding_in_a_loop()
{
    for (int i = 0; i < 3; ++i) {
        const auto [a, b] = co_await make_two<std::tuple<witness, witness>>();
        co_await hop();
    }
    co_return 7;
}

constexpr probe all[] = {
    {"value_or_awaited_false",          value_or_awaited_false,          1, gcc_12_2::wrong},
    {"value_or_awaited_true",           value_or_awaited_true,           0, gcc_12_2::wrong},
    {"awaited_or_awaited",              awaited_or_awaited,              1, gcc_12_2::wrong},
    {"if_and_else",                     if_and_else,                     1, gcc_12_2::right},
    {"aggregate_from_awaited",          aggregate_from_awaited,          2, gcc_12_2::wrong},
    {"returned_aggregate_from_awaited", returned_aggregate_from_awaited, 1, gcc_12_2::wrong},
    {"awaited_first_then_built",        awaited_first_then_built,        2, gcc_12_2::right},
    {"binding_of_a_pair",               binding_of_a_pair,               2, gcc_12_2::right},
    {"binding_of_a_tuple",              binding_of_a_tuple,              2, gcc_12_2::right},
    {"binding_in_a_loop",               binding_in_a_loop,               6, gcc_12_2::right},
};

}  // namespace

extern constexpr rule awaited_values{
    "awaited_values",
    "b ? x : co_await f(), T{.a = co_await f()}: await first, then choose or build", all};

}  // namespace toolchain
