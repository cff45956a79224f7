#pragma once
#include "runtime/world.hpp"

#include <functional>
#include <memory>

namespace holdfast::lab {

/// Sockets and a thread for an embedded deployment, the one place of the lab where these are named.
class own_loop {
public:
    own_loop();
    own_loop(const own_loop&) = delete;
    own_loop& operator=(const own_loop&) = delete;
    ~own_loop();  // what still runs is dropped

    runtime::world& world() noexcept;

    /// Runs it on the loop's thread and waits until it has ended.
    void run(runtime::awaitable<void> what);
    void call(const std::function<void()>& what);

private:
    struct parts;
    std::unique_ptr<parts> parts_;
};

}  // namespace holdfast::lab
