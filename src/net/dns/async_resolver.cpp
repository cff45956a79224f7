#include "net/dns/asking_resolver.hpp"
#include "net/dns/lookup.hpp"

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/execution/context_as.hpp>
#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::net {
namespace {

/// The coroutine may be destroyed where it waits, and nothing of the look-up may be left then.
class stopped_at_the_end {
public:
    explicit stopped_at_the_end(lookup& what) : what_{what} {}
    stopped_at_the_end(const stopped_at_the_end&) = delete;
    stopped_at_the_end& operator=(const stopped_at_the_end&) = delete;
    ~stopped_at_the_end() { what_.stop(); }

private:
    lookup& what_;
};

/// Needs the world, but not the resolver, which may be gone before the answer comes.
runtime::awaitable<result<found>> wait_for_answer(runtime::world& in, dns_settings settings,
                                                  question what, time_point until)
{
    const runtime::executor here = co_await asio::this_coro::executor;
    const auto& context = asio::query(here, asio::execution::context_as<asio::execution_context&>);
    const auto asked = std::make_shared<lookup>(in, context);
    const stopped_at_the_end guard{*asked};
    asked->start(settings, what);
    for (;;) {
        const std::uint64_t seen = asked->news().count();
        auto outcome = asked->take();
        if (outcome)
            co_return *std::move(outcome);
        const time_point now = in.steady_now();
        if (now >= until)
            co_return lookup_timed_out(what);
        const auto state = co_await asio::this_coro::cancellation_state;
        if (state.cancelled() != asio::cancellation_type::none)
            co_return lookup_cancelled(what);
        const time_point wake = std::min(until, asked->due(now));
        const runtime::wait_end end = co_await asked->news().wait(seen, wake);
        if (end == runtime::wait_end::cancelled)
            co_return lookup_cancelled(what);
        if (end == runtime::wait_end::timed_out)
            asked->process_time();
    }
}

class async_resolver final : public asking_resolver {
public:
    async_resolver(runtime::world& in, const dns_settings& settings)
        : asking_resolver{in}, settings_{settings}
    {
    }

private:
    runtime::awaitable<result<found>> ask(question what, time_point until) override
    {
        return wait_for_answer(world_, settings_, std::move(what), until);
    }

    dns_settings settings_;
};

}  // namespace

std::unique_ptr<resolver> make_async_resolver(runtime::world& in, const dns_settings& settings)
{
    return std::make_unique<async_resolver>(in, settings);
}

}  // namespace holdfast::net
