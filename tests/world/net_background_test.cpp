#include "runtime/background.hpp"
#include "runtime/wait.hpp"
#include "world/net_party.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <chrono>
#include <memory>
#include <optional>

namespace holdfast::net_background_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

runtime::awaitable<void> sleep_long(runtime::world& in, std::shared_ptr<int> alive)
{
    co_await runtime::sleep_until(in, in.steady_now() + 1h);
    ADD_FAILURE() << "woken up, with " << alive.use_count();
}

TEST(net_background, tasks_are_destroyed_with_their_executor)
{
    const auto alive = std::make_shared<int>();
    std::optional<asio::io_context> context{std::in_place};
    net::async_world world{context->get_executor()};
    runtime::background all{world};
    auto first = all.start(sleep_long(world, alive));
    context->poll();
    auto second = all.start(sleep_long(world, alive));  // does not even begin
    EXPECT_EQ(all.running(), 2U);
    EXPECT_EQ(alive.use_count(), 3);
    context.reset();
    EXPECT_EQ(all.running(), 0U);
    EXPECT_EQ(alive.use_count(), 1);
    first.stop();
    second.stop();
    all.start(sleep_long(world, alive)).stop();
    EXPECT_EQ(all.running(), 0U);
    EXPECT_EQ(alive.use_count(), 1);
    all.stop();
}

runtime::awaitable<void> note(bool& begun)
{
    begun = true;
    co_return;
}

TEST(net_background, start_never_runs_the_task_inline)
{
    asio::io_context context;
    net::async_world world{context.get_executor()};
    runtime::background all{world};
    bool begun = false;
    bool begun_within = false;
    asio::post(context, [&] {  // on a thread of the executor, too
        all.start(note(begun));
        begun_within = begun;
    });
    context.run();
    EXPECT_FALSE(begun_within);
    EXPECT_TRUE(begun);
}

}  // namespace
}  // namespace holdfast::net_background_test
