#include "world/net_party.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>

#include <atomic>
#include <filesystem>
#include <future>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace holdfast::net_threads_test {
namespace {

using namespace std::chrono_literals;
using proof::as_bytes;
using proof::net_party;
using proof::read_once;
using runtime::awaitable;
using runtime::destination;
using runtime::stream;
using runtime::stream_ptr;
namespace asio = boost::asio;
namespace errc = boost::system::errc;

std::size_t threads()
{
    const std::filesystem::directory_iterator tasks{"/proc/self/task"};
    return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

TEST(net_threads, world_starts_no_thread)
{
    const std::size_t before = threads();
    net_party here;
    bool talked = false;
    const auto test = [&]() -> awaitable<void> {
        const char* const hosts[] = {"127.0.0.1", "localhost"};
        for (const std::string host : hosts) {
            auto door = here.world.listen({"127.0.0.1", 0}).value();
            const destination where{host, door->port()};
            const auto client = co_await here.world.connect(where, here.in(10s));
            const auto server = co_await door->accept();
            EXPECT_EQ(threads(), before) << host;
            if (!client || !server)
                co_return;
            (*client)->write_now(as_bytes("hello"));
            (*server)->expires_at(here.in(10s));
            const auto got = co_await read_once(**server);
            EXPECT_EQ(threads(), before) << host;
            talked = got.text == "hello";
        }
    };
    here.run(test());
    EXPECT_TRUE(talked);
    EXPECT_EQ(threads(), before);
}

/// One executor with four threads, a server that echoes, and clients that all do something else.
class crowd {
public:
    crowd() : door_{world_.listen({"127.0.0.1", 0}).value()} {}

    template <class Client>
    void add(Client client)
    {
        ++clients_;
        asio::co_spawn(context_, play(std::move(client)), proof::no_exception{});
    }

    void run()
    {
        asio::co_spawn(context_, serve(), proof::no_exception{});
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([this] { context_.run_for(60s); });
        for (auto& one : threads)
            one.join();
        EXPECT_EQ(clients_, 0) << "who did not come to their end";
        EXPECT_TRUE(context_.stopped());
    }

    asio::io_context& context() { return context_; }
    net::async_world& world() { return world_; }

    awaitable<stream_ptr> connect()
    {
        const destination where{"127.0.0.1", door_->port()};
        auto made = co_await world_.connect(where, world_.steady_now() + 30s);
        if (made)
            co_return *std::move(made);
        ADD_FAILURE() << made.error().explain();
        co_return nullptr;
    }

private:
    template <class Client>
    awaitable<void> play(Client client)
    {
        auto with = co_await connect();
        if (with)
            co_await client(*this, std::move(with));
        if (--clients_ == 0)
            door_->cancel();
    }
    awaitable<void> serve()
    {
        for (;;) {
            auto came = co_await door_->accept();
            if (!came)
                break;
            asio::co_spawn(context_, echo(*std::move(came)), proof::no_exception{});
        }
    }
    static awaitable<void> echo(stream_ptr with)
    {
        for (;;) {
            const auto got = co_await read_once(*with);
            if (got.why)
                break;
            const error_code why = co_await write_all(*with, as_bytes(got.text));
            if (why)
                break;
        }
    }

    asio::io_context context_;
    net::async_world world_{context_.get_executor()};
    runtime::listener_ptr door_;
    std::atomic<int> clients_ = 0;
};

awaitable<void> ask(stream& with, std::string what)
{
    const error_code why = co_await write_all(with, as_bytes(what));
    EXPECT_FALSE(why) << why.message();
    std::string answer;
    while (answer.size() < what.size()) {
        const auto got = co_await read_once(with);
        if (got.why)
            break;
        answer += got.text;
    }
    EXPECT_EQ(answer, what);
}

awaitable<void> ask_with_deadlines(crowd& in, stream_ptr with)
{
    for (int i = 0; i < 200; ++i) {
        with->expires_at(in.world().steady_now() + 30s);
        co_await ask(*with, std::to_string(i));
        with->expires_at(runtime::never);
    }
}

/// Deadlines so short that some come before the answer, some after, and some while they are moved.
awaitable<void> ask_in_a_hurry(crowd& in, stream_ptr with)
{
    for (int i = 0; i < 200; ++i) {
        const auto sent = with->write_now(as_bytes("x"));
        EXPECT_FALSE(sent.why) << sent.why.message();
        with->expires_at(in.world().steady_now() + (i % 20) * 10us);
        auto got = co_await read_once(*with);
        with->expires_at(in.world().steady_now() + 30s);
        if (got.why == errc::timed_out)
            got = co_await read_once(*with);
        EXPECT_EQ(got.text, "x") << got.why.message();
    }
}

awaitable<void> wait_in_vain(crowd& in, stream_ptr with)
{
    for (int i = 0; i < 30; ++i) {
        with->expires_at(in.world().steady_now() + 1ms);
        const auto got = co_await read_once(*with);
        EXPECT_EQ(got.why, errc::timed_out) << got.why.message();
    }
    with->expires_at(runtime::never);
    co_await ask(*with, "still here");
}

/// Deadlines that come while a read is being started, in one thread or another: not one is missed,
/// or this would wait for ever.
awaitable<void> wait_hardly_at_all(crowd& in, stream_ptr with)
{
    for (int i = 0; i < 500; ++i) {
        with->expires_at(in.world().steady_now() + (i % 50) * 1us);
        const auto got = co_await read_once(*with);
        EXPECT_EQ(got.why, errc::timed_out) << got.why.message();
    }
}

awaitable<void> come_and_go(crowd& in, stream_ptr)
{
    for (int i = 0; i < 20; ++i) {
        const auto with = co_await in.connect();
        if (with)
            co_await ask(*with, "hello and the end");
    }
}

/// Waits until another thread cancels it.
struct cancelled_from_outside {
    std::shared_ptr<std::promise<stream*>> waits;
    awaitable<void> operator()(crowd&, stream_ptr with) const
    {
        waits->set_value(with.get());
        const auto got = co_await read_once(*with);
        EXPECT_EQ(got.why, errc::operation_canceled) << got.why.message();
        const auto again = co_await read_once(*with);
        EXPECT_EQ(again.why, errc::operation_canceled) << again.why.message();
    }
};

/// Reads on a strand, and is cancelled there: signals of Asio belong to one thread at a time.
struct cancelled_reads {
    asio::cancellation_signal stop = {};
    std::atomic<bool> ended = false;

    awaitable<void> read(stream& from, bool& cancelled)
    {
        co_await asio::this_coro::throw_if_cancelled(false);
        const auto got = co_await read_once(from);
        cancelled = got.why == errc::operation_canceled;
        EXPECT_TRUE(cancelled || got.text == "x") << got.why.message();
    }
};

awaitable<void> cancel_now_and_then(crowd& in, stream_ptr with)
{
    const auto strand = asio::make_strand(in.context());
    int cancelled_ones = 0;
    for (int i = 0; i < 50; ++i) {
        const auto reads = std::make_shared<cancelled_reads>();
        const auto ended = std::make_shared<runtime::event>(in.world());
        const auto before = ended->count();
        bool cancelled = false;
        with->write_now(as_bytes("x"));
        const auto start = [&, reads, ended] {
            const auto done = [reads, ended](const std::exception_ptr& thrown) {
                EXPECT_FALSE(thrown);
                ended->notify();
            };
            asio::co_spawn(strand, reads->read(*with, cancelled),
                           asio::bind_cancellation_slot(reads->stop.slot(), done));
        };
        asio::post(strand, start);
        if (i % 2 == 0) {
            const auto stop = [reads] { reads->stop.emit(asio::cancellation_type::terminal); };
            asio::post(strand, stop);
        }
        co_await ended->wait(before);
        cancelled_ones += cancelled;
        if (cancelled) {
            const auto got = co_await read_once(*with);
            EXPECT_EQ(got.text, "x") << "no byte is lost: " << got.why.message();
        }
    }
    EXPECT_LE(cancelled_ones, 25);
}

TEST(net_threads, four_threads_run_many_operations_without_races)
{
    crowd all;
    std::vector<std::shared_ptr<std::promise<stream*>>> waiting;
    for (int i = 0; i < 6; ++i) {
        all.add(ask_with_deadlines);
        all.add(ask_in_a_hurry);
        all.add(wait_in_vain);
        all.add(wait_hardly_at_all);
        all.add(come_and_go);
        all.add(cancel_now_and_then);
        waiting.push_back(std::make_shared<std::promise<stream*>>());
        all.add(cancelled_from_outside{waiting.back()});
    }
    std::thread outside{[&] {
        for (const auto& one : waiting)
            one->get_future().get()->cancel();
    }};
    all.run();
    outside.join();
}

}  // namespace
}  // namespace holdfast::net_threads_test
