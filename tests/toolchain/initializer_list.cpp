// g++ 12.2 refuses any initializer_list in a co_await expression ("array used as initializer"),
// which is why documents are made by a variadic builder. Compiled with -D NAMED_FIRST this file
// shows the way around, and that nothing else in it is wrong.
#include "task.hpp"

#include <string>

namespace toolchain {

task<int> take(std::vector<std::string> names)
{
    co_await hop();
    co_return static_cast<int>(names.size());
}

task<int> give()
{
#ifdef NAMED_FIRST
    std::vector<std::string> names{"a", "b"};
    co_return co_await take(std::move(names));
#else
    co_return co_await take({"a", "b"});
#endif
}

}  // namespace toolchain
