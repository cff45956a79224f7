#include "lab/mongo/router/balancer.hpp"

#include <array>
#include <chrono>
#include <list>
#include <span>
#include <utility>

namespace holdfast::lab::mongo {

using namespace std::chrono_literals;
using runtime::awaitable;

namespace {

constexpr std::size_t most_connections = 10'000;

/// Both ends of what is carried. Each direction has a coroutine; the first that ends, ends both.
struct pair_of_streams {
    runtime::stream_ptr client;
    runtime::stream_ptr router;

    void close() const noexcept
    {
        client->cancel();
        router->cancel();
    }
};

awaitable<void> pump(std::shared_ptr<pair_of_streams> both, bool to_router)
{
    runtime::stream& from = to_router ? *both->client : *both->router;
    runtime::stream& to = to_router ? *both->router : *both->client;
    std::vector<std::uint8_t> buffer(64 * 1024);
    for (;;) {
        const runtime::io_result got = co_await from.read_some(buffer);
        if (got.why)
            break;
        const std::span<const std::uint8_t> bytes{buffer.data(), got.bytes};
        const error_code why = co_await runtime::write_all(to, bytes);
        if (why)
            break;
    }
    both->close();
}

}  // namespace

struct balancer::state {
    state(runtime::world& in, std::vector<runtime::destination> targets)
        : world{in}, to{std::move(targets)}, tasks{in}
    {
    }

    static awaitable<void> take_connections(std::shared_ptr<state> self)
    {
        for (;;) {
            auto accepted = co_await self->listener->accept();
            if (!accepted)
                co_return;
            if (self->tasks.running() >= 2 * most_connections)
                continue;  // and it is closed
            auto both = std::make_shared<pair_of_streams>();
            both->client = *std::move(accepted);
            self->tasks.start(carry(self, std::move(both)));
        }
    }

    static awaitable<void> carry(std::shared_ptr<state> self, std::shared_ptr<pair_of_streams> both)
    {
        runtime::destination where = self->to[self->turn++ % self->to.size()];
        auto made = co_await self->world.connect(std::move(where), self->world.steady_now() + 5s);
        if (!made || self->stopping)
            co_return;
        both->router = *std::move(made);
        self->tasks.start(pump(both, false));
        co_await pump(both, true);
    }

    runtime::world& world;
    std::vector<runtime::destination> to;
    runtime::listener_ptr listener;
    std::size_t turn = 0;
    bool stopping = false;
    runtime::background tasks;
};

balancer::balancer(std::shared_ptr<state> of) : state_{std::move(of)}
{
    state_->tasks.start(state::take_connections(state_));
}

balancer::~balancer()
{
    stop();
}

result<std::unique_ptr<balancer>> balancer::open(runtime::world& in, runtime::destination at,
                                                 std::vector<runtime::destination> to)
{
    auto listening = in.listen(std::move(at));
    if (!listening)
        return std::move(listening).error();
    auto made = std::make_shared<state>(in, std::move(to));
    made->listener = *std::move(listening);
    return std::unique_ptr<balancer>{new balancer{std::move(made)}};
}

std::uint16_t balancer::port() const noexcept
{
    return state_->listener->port();
}

void balancer::stop()
{
    state_->stopping = true;
    state_->listener->cancel();
    state_->tasks.stop();
}

awaitable<void> balancer::ended()
{
    co_await state_->tasks.ended();
}

}  // namespace holdfast::lab::mongo
