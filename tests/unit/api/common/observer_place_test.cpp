// The thread that observers are called by.
#include "api/common/observer_place.hpp"

#include "shell/observe/operation_watch.hpp"
#include "support/virtual_world.hpp"
#include "unit/shell/observe/observe_support.hpp"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <thread>
#include <vector>

namespace holdfast::api::observer_place_test {
namespace {

TEST(observer_thread, functions_run_in_order_on_one_other_thread)
{
    std::promise<void> done;
    std::vector<int> order;
    std::vector<std::thread::id> threads;
    const shell::run_later run = observer_thread();
    for (int n = 0; n != 100; ++n) {
        run([&, n] {
            order.push_back(n);
            threads.push_back(std::this_thread::get_id());
            if (n == 99)
                done.set_value();
        });
    }
    done.get_future().wait();
    for (int n = 0; n != 100; ++n)
        EXPECT_EQ(order[static_cast<std::size_t>(n)], n);
    EXPECT_NE(threads.front(), std::this_thread::get_id());
    EXPECT_EQ(threads.front(), threads.back());
}

TEST(observer_thread, owner_does_not_wait_for_a_function_that_hangs_and_drops_the_rest)
{
    std::promise<void> hangs, released, ended;
    const auto dropped = std::make_shared<int>(0);
    {
        const shell::run_later run = observer_thread();
        run([&] {
            hangs.set_value();
            released.get_future().wait();
            ended.set_value();
        });
        run([dropped] { ++*dropped; });
        hangs.get_future().wait();
    }
    EXPECT_EQ(dropped.use_count(), 1) << "what has not begun is destroyed with the owner";
    released.set_value();
    ended.get_future().wait();
    EXPECT_EQ(*dropped, 0);
}

TEST(observer_thread, function_may_destroy_the_owner)
{
    auto run = std::make_unique<shell::run_later>(observer_thread());
    std::promise<void> posted, done;
    (*run)([&] {
        posted.get_future().wait();
        run.reset();
        done.set_value();
    });
    posted.set_value();
    done.get_future().wait();
    EXPECT_EQ(run, nullptr);
}

/// Counts, and sees to it that it is called by one thread at a time, and that each operation is
/// complete and in order.
class checking_observer final : public observer {
public:
    using observer::on;
    void on(const observed::operation_began& e) noexcept override { step(e.of, 0, 1); }
    void on(const observed::attempt_began& e) noexcept override { step(e.of, 1, 2); }
    void on(const observed::attempt_ended& e) noexcept override { step(e.of, 2, 3); }
    void on(const observed::operation_ended& e) noexcept override { step(e.of, 3, 4); }

    std::size_t complete = 0;
    std::size_t wrong = 0;

private:
    void step(const observed::operation& of, int from, int to)
    {
        if (stages_.size() <= of.id)
            stages_.resize(of.id + 1);
        int& stage = stages_[of.id];
        wrong += stage != from;
        stage = to;
        complete += to == 4;
    }
    std::vector<int> stages_;
};

TEST(observer_thread, operations_of_several_threads_arrive_whole_and_in_order)
{
    constexpr int threads = 4;
    constexpr int each = 500;
    proof::virtual_world world;
    const auto seen = std::make_shared<checking_observer>();
    shell::observation_options what;
    what.observers = {seen};
    what.deliver = observer_thread();
    what.queue = 1'000'000;
    auto by = shell::observation::make(world, std::move(what));
    std::vector<std::thread> all;
    for (int n = 0; n != threads; ++n) {
        all.emplace_back([&] {
            for (int i = 0; i != each; ++i) {
                shell::operation_watch watch{*by, proof::operation_called("get"), {}};
                watch.attempt_began(proof::connection_to("a:1"), "0x1", {});
                watch.attempt_ended({}, {});
                watch.ended({}, nullptr, 0);
            }
        });
    }
    for (std::thread& one : all)
        one.join();
    while (!by->feed()->is_empty())
        std::this_thread::yield();
    EXPECT_EQ(seen->wrong, 0u);
    EXPECT_EQ(seen->complete, std::size_t{threads} * each);
}

}  // namespace
}  // namespace holdfast::api::observer_place_test
