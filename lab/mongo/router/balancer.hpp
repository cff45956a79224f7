#pragma once
#include "holdfast/error.hpp"
#include "runtime/background.hpp"
#include "runtime/world.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace holdfast::lab::mongo {

/// A load balancer: takes connections and leads each to the next of its routers. It understands
/// nothing of what it carries.
class balancer {
public:
    static result<std::unique_ptr<balancer>> open(runtime::world& in, runtime::destination at,
                                                  std::vector<runtime::destination> to);
    ~balancer();

    std::uint16_t port() const noexcept;
    void stop();
    runtime::awaitable<void> ended();

private:
    struct state;
    explicit balancer(std::shared_ptr<state> of);

    std::shared_ptr<state> state_;
};

}  // namespace holdfast::lab::mongo
