#include "shell/coroutines.hpp"

awaitable<int> wrong()
{
    if (co_await ready())  // offence: coroutines
        return;
    while (a && (co_await ready()))  // offence: coroutines
        work();
    switch (co_await ready()) {  // offence: coroutines
    }
    auto value = b ? x : co_await f();          // offence: coroutines
    const pair both{.a = co_await f(), .b = 1};  // offence: coroutines
    co_await f({.name = "x"});                  // offence: temporaries
    co_await f(options{.name = x});             // offence: temporaries
    co_await f(1, std::vector<int>{1, 2});      // offence: temporaries
    co_await f(options{});                      // offence: temporaries
    co_await f({"a", "b"});                     // offence: temporaries
    co_await f([p] { return *p; });             // offence: temporaries
    co_await f([=] { return *p; });             // offence: temporaries
    co_await f([&, p = std::move(p)]() { return *p; });  // offence: temporaries
    co_await f(                                 // offence: temporaries
        one,
        {.name = two});
}

awaitable<int> right()
{
    if (const bool ok = co_await ready(); ok)
        work();
    const bool ok = co_await ready();
    if (ok) {
        co_await suspend{};
    }
    auto value = co_await table[n](1);
    co_await f([&] { return 1; });
    co_await f([this, &x](int n) { return n + x; });
    co_await f([] { return 1; });
    const options named{.name = "x"};
    co_await f(std::move(named));
    co_return options{.name = x};
}
