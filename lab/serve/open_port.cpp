#include "lab/serve/open_port.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <list>
#include <memory>
#include <span>
#include <utility>

namespace holdfast::lab {

namespace {

constexpr std::size_t most_connections = 20'000;
constexpr auto tls_timeout = std::chrono::seconds{10};

struct connection;

/// What a port and its coroutines share. The coroutines may outlive the port by a moment; the
/// server behind it does not have to. Nothing is cancelled from outside: a coroutine that waits is
/// woken, and looks whether its connection is still open.
struct port_state {
    port_state(runtime::world& in, std::unique_ptr<acceptor> with, port_options initial)
        : world{in}, behind{std::move(with)}, options{std::move(initial)}, closing{in}, ended{in}
    {
    }

    runtime::world& world;
    std::unique_ptr<acceptor> behind;  // null when the port is gone
    port_options options;
    runtime::listener_ptr listener;
    std::list<connection*> open;
    bool stopped = false;
    std::size_t running = 0;   // coroutines
    runtime::event closing;    // some connections are to end
    runtime::event ended;      // a coroutine has
};

/// Goes with each coroutine of a port, and so counts them however they end.
class presence {
public:
    explicit presence(std::shared_ptr<port_state> at) : at_{std::move(at)} { ++at_->running; }
    presence(const presence&) = delete;
    presence& operator=(const presence&) = delete;
    ~presence()
    {
        --at_->running;
        at_->ended.notify();
    }

private:
    std::shared_ptr<port_state> at_;
};

struct connection {
    connection(std::shared_ptr<port_state> at_port, runtime::stream_ptr over)
        : port{std::move(at_port)},
          stream{std::move(over)},
          talk{port->behind->accept(port->world, stream->peer())},
          watched{port->world}
    {
        place = port->open.insert(port->open.end(), this);
    }
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;
    ~connection()
    {
        if (port->behind == nullptr)
            return;
        port->open.erase(place);
        talk->closed();
    }

    bool is_open() const noexcept { return !closing && port->behind != nullptr; }

    /// Moves what watch() has read.
    std::size_t take_ahead(std::span<std::uint8_t> into) noexcept
    {
        const std::size_t count = std::min(into.size(), ahead_size);
        std::copy_n(ahead.begin(), count, into.begin());
        std::copy(ahead.begin() + count, ahead.begin() + ahead_size, ahead.begin());
        ahead_size -= count;
        return count;
    }

    std::shared_ptr<port_state> port;
    runtime::stream_ptr stream;
    std::unique_ptr<conversation> talk;
    bool closing = false;
    bool reading = false;  // serve() is
    bool woken = false;  // meanwhile
    bool timed = false;  // it reads until a time
    std::list<connection*>::iterator place;

    bool watching = false;  // watch() is reading
    std::array<std::uint8_t, 512> ahead{};  // what it has read: the begin of the next request
    std::size_t ahead_size = 0;
    runtime::event watched;  // it has ended
};

/// What a client gets whose handshake fails on purpose. Then its bytes are read until it goes, so
/// that what was sent arrives.
runtime::awaitable<void> fail_handshake(std::shared_ptr<connection> on, handshake_fault fault)
{
    constexpr std::array<std::uint8_t, 7> alert{0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x28};
    constexpr std::array<std::uint8_t, 7> garbage{'g', 'a', 'r', 'b', 'a', 'g', 'e'};
    std::array<std::uint8_t, 512> ignored{};
    error_code why;
    if (fault == handshake_fault::alert || fault == handshake_fault::garbage) {
        const runtime::io_result hello = co_await on->stream->read_some(ignored);
        why = hello.why;
        if (!why)
            why = co_await runtime::write_all(*on->stream,
                                              fault == handshake_fault::alert ? alert : garbage);
    }
    while (!why && fault != handshake_fault::cut && on->is_open()) {
        const runtime::io_result got = co_await on->stream->read_some(ignored);
        why = got.why;
    }
}

runtime::awaitable<bool> secure(std::shared_ptr<connection> on)
{
    const runtime::tls_ptr tls = on->port->options.tls;
    const handshake_fault fault = on->port->options.handshake;
    on->stream->expires_at(on->port->world.steady_now() + tls_timeout);
    if (fault != handshake_fault::none) {
        co_await fail_handshake(on, fault);
        co_return false;
    }
    auto secured = co_await tls->accept(std::move(on->stream));
    if (!secured)
        co_return false;
    on->stream = *std::move(secured);
    on->stream->expires_at(runtime::never);
    co_return true;
}

using presence_ptr = std::unique_ptr<presence>;

/// Ends a wait without an effect on the stream: a read that has timed out loses no byte.
void wake(connection& on)
{
    if (!on.is_open())
        return;
    on.woken = true;
    if (on.reading)
        on.stream->expires_at(on.port->world.steady_now());
    else
        on.port->closing.notify();
}

/// After a read: whether the connection goes on.
bool end_read(connection& on, const runtime::io_result& got)
{
    on.reading = false;
    on.talk->received(got.bytes);
    if (!on.woken && !on.timed)
        return !got.why;
    on.stream->expires_at(runtime::never);
    return !got.why || got.why == boost::system::errc::timed_out;
}

/// Reads while the conversation waits for something else, to notice that the client has gone: a
/// stream of hellos would notice it at its next reply only, many seconds later.
runtime::awaitable<void> watch(std::shared_ptr<connection> on, presence_ptr)
{
    const runtime::io_result got = co_await on->stream->read_some(on->ahead);
    on->watching = false;
    on->ahead_size = got.bytes;
    if (got.why && on->is_open()) {
        on->closing = true;
        on->port->behind->news().notify();
    }
    on->watched.notify();
}

void start_watching(const std::shared_ptr<connection>& on)
{
    on->watching = true;
    boost::asio::co_spawn(on->port->world.executor(),
                          watch(on, std::make_unique<presence>(on->port)), boost::asio::detached);
}

/// The bytes that watch() reads, or has read: there is one reader at a time.
runtime::awaitable<void> receive_ahead(std::shared_ptr<connection> on)
{
    const std::uint64_t seen = on->watched.count();
    if (on->watching)
        (void)co_await on->watched.wait(seen);
    if (on->is_open() && on->ahead_size != 0)
        on->talk->received(on->take_ahead(on->talk->unread()));
}

runtime::awaitable<void> serve(std::shared_ptr<connection> on, presence_ptr)
{
    conversation& talk = *on->talk;
    port_state& port = *on->port;
    bool open = true;
    if (port.options.tls) {
        const bool secured = co_await secure(on);
        open = secured;
    }
    while (open && on->is_open()) {
        const std::uint64_t closings = port.closing.count();
        on->woken = false;
        const need next = talk.advance(*on->stream);
        switch (next) {
        case need::bytes: {
            if (on->watching || on->ahead_size != 0) {
                co_await receive_ahead(on);
                break;
            }
            if (on->woken)  // by what advance() has done
                break;
            on->reading = true;
            on->timed = talk.read_until() != runtime::never;
            if (on->timed)
                on->stream->expires_at(talk.read_until());
            const auto free = talk.unread();
            const runtime::io_result got = co_await on->stream->read_some(free);
            open = end_read(*on, got);
            break;
        }
        case need::writable: {
            const error_code why = co_await on->stream->writable();
            open = !why;
            break;
        }
        case need::news: {
            if (talk.waits_long() && !on->watching && on->ahead_size == 0)
                start_watching(on);
            const auto end = co_await port.behind->news().wait(talk.seen(), talk.wake_at());
            if (on->is_open())  // else the server behind the port may be gone
                talk.woken(end);
            break;
        }
        case need::time: {
            const auto end = co_await port.closing.wait(closings, talk.wake_at());
            if (on->is_open())
                talk.woken(end);
            break;
        }
        case need::later: {
            auto end = co_await talk.answer_later();
            if (on->is_open())
                talk.answered(std::move(end));
            break;
        }
        case need::nothing:
            open = false;
            break;
        }
    }
    if (on->watching)
        on->stream->cancel();
}

runtime::awaitable<void> accept_connections(std::shared_ptr<port_state> at, presence_ptr)
{
    for (;;) {
        auto accepted = co_await at->listener->accept();
        if (!accepted || at->stopped)
            break;
        if (at->open.size() >= most_connections || !at->behind->admits())
            continue;  // and it is closed
        auto made = std::make_shared<connection>(at, *std::move(accepted));
        made->talk->set_waker([here = std::weak_ptr<connection>{made}] {
            if (const auto on = here.lock())
                wake(*on);
        });
        boost::asio::co_spawn(at->world.executor(),
                              serve(std::move(made), std::make_unique<presence>(at)),
                              boost::asio::detached);
    }
    at->listener.reset();
}

class listening_port final : public open_port {
public:
    explicit listening_port(std::shared_ptr<port_state> of)
        : state_{std::move(of)}, port_{state_->listener->port()}
    {
        boost::asio::co_spawn(state_->world.executor(),
                              accept_connections(state_, std::make_unique<presence>(state_)),
                              boost::asio::detached);
    }
    listening_port(const listening_port&) = delete;
    listening_port& operator=(const listening_port&) = delete;
    ~listening_port() override
    {
        stop();
        for (connection* const one : state_->open)
            one->talk->closed();
        state_->open.clear();
        state_->behind.reset();
    }

    std::uint16_t port() const noexcept override { return port_; }
    std::size_t connections() const noexcept override { return state_->open.size(); }
    runtime::awaitable<void> ended() override { return wait_for_all(state_); }

    void stop() override
    {
        state_->stopped = true;
        if (state_->listener)
            state_->listener->cancel();
        close_connections(true);
    }

    void wake_connections() override { state_->closing.notify(); }

    void set_tls(runtime::tls_ptr tls, handshake_fault handshake) override
    {
        state_->options.tls = std::move(tls);
        state_->options.handshake = handshake;
    }

    void close_connections(bool internal_too) override
    {
        for (connection* const one : state_->open) {
            if (one->talk->internal() && !internal_too)
                continue;
            one->closing = true;
            if (one->stream)
                one->stream->cancel();
        }
        state_->closing.notify();
        state_->behind->news().notify();
    }

private:
    static runtime::awaitable<void> wait_for_all(std::shared_ptr<port_state> at)
    {
        for (;;) {
            const std::uint64_t seen = at->ended.count();
            if (at->running == 0)
                break;
            const auto end = co_await at->ended.wait(seen);
            if (end == runtime::wait_end::cancelled)
                break;
        }
    }

    std::shared_ptr<port_state> state_;
    std::uint16_t port_;
};

}  // namespace

result<std::unique_ptr<open_port>> open_port::open(runtime::world& in,
                                                   std::unique_ptr<acceptor> behind,
                                                   port_options options)
{
    auto listening = in.listen(options.where);
    if (!listening)
        return std::move(listening).error();
    auto state = std::make_shared<port_state>(in, std::move(behind), std::move(options));
    state->listener = *std::move(listening);
    return std::unique_ptr<open_port>{std::make_unique<listening_port>(std::move(state))};
}

}  // namespace holdfast::lab
