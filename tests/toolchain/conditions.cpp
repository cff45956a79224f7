#include "probe.hpp"

// These functions must not get any simpler: a local variable in the outermost block is all it takes
// to hide the fault.

namespace toolchain {
namespace {

task<int> if_without_a_local()
{
    if (co_await flag(true)) {
        co_await hop();
    }
    co_return 7;
}

task<int> if_after_a_local()
{
    int n = 7;
    if (co_await flag(true)) {
        co_await hop();
    }
    co_return n;
}

task<int> takes_a_parameter(int n)
{
    if (co_await flag(true)) {
        co_await hop();
    }
    co_return n;
}
task<int> if_with_a_parameter() { return takes_a_parameter(7); }

task<int> named_first()
{
    const bool ok = co_await flag(true);
    if (ok) {
        co_await hop();
    }
    co_return 7;
}

task<int> named_in_the_if()
{
    if (const bool ok = co_await flag(true); ok) {
        co_await hop();
    }
    co_return 7;
}

task<int> if_in_a_try()
{
    try {
        if (co_await flag(true)) {
            co_await hop();
        }
    } catch (...) {
    }
    co_return 7;
}

task<int> in_a_switch()
{
    switch (int(co_await flag(true))) {
    case 1: co_await hop();
    }
    co_return 7;
}

task<int> in_a_while()
{
    while (co_await flag(false)) {
        co_await hop();
    }
    co_return 7;
}

task<int> return_from_an_endless_loop()
{
    for (;;) {
        if (co_await flag(true))
            co_return 7;
    }
}

task<int> if_in_a_for()
{
    for (int i = 0; i < 3; ++i) {
        if (co_await flag(true)) {
            co_await hop();
        }
    }
    co_return 7;
}

task<int> if_after_another_await()
{
    co_await hop();
    if (co_await flag(true)) {
        co_await hop();
    }
    co_return 7;
}

task<int> if_without_braces()
{
    if (co_await flag(true))
        co_await hop();
    co_return 7;
}

struct has_a_member {
    int n = 7;
    task<int> run()
    {
        if (co_await flag(true)) {
            co_await hop();
        }
        co_return n;
    }
};
task<int> if_in_a_member()
{
    static has_a_member object;
    return object.run();
}

constexpr probe all[] = {
    {"if_without_a_local",          if_without_a_local,          2, gcc_12_2::wrong},
    {"if_after_a_local",            if_after_a_local,            2, gcc_12_2::right},
    {"if_with_a_parameter",         if_with_a_parameter,         2, gcc_12_2::wrong},
    {"named_first",                 named_first,                 2, gcc_12_2::right},
    {"named_in_the_if",             named_in_the_if,             2, gcc_12_2::right},
    {"if_in_a_try",                 if_in_a_try,                 2, gcc_12_2::wrong},
    {"in_a_switch",                 in_a_switch,                 2, gcc_12_2::wrong},
    {"in_a_while",                  in_a_while,                  1, gcc_12_2::wrong},
    {"return_from_an_endless_loop", return_from_an_endless_loop, 1, gcc_12_2::wrong},
    {"if_in_a_for",                 if_in_a_for,                 6, gcc_12_2::right},
    {"if_after_another_await",      if_after_another_await,      3, gcc_12_2::wrong},
    {"if_without_braces",           if_without_braces,           2, gcc_12_2::wrong},
    {"if_in_a_member",              if_in_a_member,              2, gcc_12_2::wrong},
};

}  // namespace

extern constexpr rule conditions{
    "conditions", "if / while / switch (co_await ...): name the awaited value first", all};

}  // namespace toolchain
