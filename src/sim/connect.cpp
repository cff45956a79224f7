// How a process connects: look-up, then one address after the other, with a head start for each.
#include "sim/incarnation.hpp"
#include "sim/machine.hpp"
#include "sim/stream.hpp"

#include <boost/asio/this_coro.hpp>

#include <utility>

namespace holdfast::sim {
namespace {

namespace asio = boost::asio;
using runtime::awaitable;
using runtime::errc;

constexpr duration head_start = milliseconds{250};

error connect_error(errc code, const runtime::destination& where, const char* phase,
                    std::string cause)
{
    const std::string server = to_string(where);
    return error{code, "cannot connect to " + server + ": " + cause}
        .with_context("server", server)
        .with_context("phase", phase)
        .with_context("cause", std::move(cause));
}

/// The attempts of one connect(). What is left of them at the end is closed.
class dialling {
public:
    dialling(incarnation& in, std::vector<std::string> addresses, std::uint16_t port)
        : in_{in}, addresses_{std::move(addresses)}, port_{port}, news_{in}
    {
    }
    dialling(const dialling&) = delete;
    dialling& operator=(const dialling&) = delete;
    ~dialling()
    {
        for (const auto& one : begun_)
            in_.all().wires.close(*one, client_side);
    }

    runtime::event& news() noexcept { return news_; }

    /// Takes note of what has come of the attempts, and begins the next if it is time.
    void step()
    {
        std::size_t pending = 0;
        for (const auto& one : begun_) {
            const connection_end& end = one->ends[client_side];
            if (end.state == end_state::open)
                won_ = one;
            else if (end.broken)
                cause_ = end.broken;
            else
                ++pending;
        }
        const time_point now = in_.steady_now();
        if (won_ || begun_.size() == addresses_.size() || (pending > 0 && now < next_at_))
            return;
        begun_.push_back(in_.all().wires.dial(in_, addresses_[begun_.size()], port_, news_));
        next_at_ = begun_.size() < addresses_.size() ? now + head_start : runtime::never;
    }

    bool all_failed() const noexcept
    {
        if (begun_.size() < addresses_.size())
            return false;
        return std::ranges::all_of(
            begun_, [](const auto& one) { return one->ends[client_side].broken.failed(); });
    }
    error_code cause() const noexcept { return cause_; }
    time_point next_at() const noexcept { return next_at_; }

    /// The connection that was made, or null.
    runtime::stream_ptr take()
    {
        if (!won_)
            return nullptr;
        won_->ends[client_side].dialler = nullptr;
        std::erase(begun_, won_);
        return std::make_unique<sim_stream>(in_, std::exchange(won_, nullptr), client_side);
    }

private:
    incarnation& in_;
    std::vector<std::string> addresses_;
    std::uint16_t port_;
    runtime::event news_;
    std::vector<std::shared_ptr<connection>> begun_;
    std::shared_ptr<connection> won_;
    error_code cause_;
    time_point next_at_ = runtime::never;
};

}  // namespace

awaitable<result<runtime::stream_ptr>> incarnation::connect(runtime::destination where,
                                                            time_point until)
{
    if (where.is_path()) {
        co_return connect_error(errc::not_available, where, runtime::phase_connect,
                                "the simulation has no Unix sockets; use a host and a port");
    }
    auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none)
        co_return connect_error(errc::cancelled, where, runtime::phase_resolve, "cancelled");
    auto found = co_await resolve(where.host, until);
    if (!found) {
        const auto code = static_cast<errc>(found.error().code().value());
        co_return connect_error(code, where, runtime::phase_resolve,
                                std::string{found.error().context("cause")});
    }

    dialling attempts{*this, std::move(*found), where.port};
    for (;;) {
        const auto seen = attempts.news().count();
        attempts.step();
        auto made = attempts.take();
        if (made)
            co_return std::move(made);
        const auto fails = [&](errc code, std::string cause) {
            return connect_error(code, where, runtime::phase_connect, std::move(cause));
        };
        if (attempts.all_failed())
            co_return fails(errc::connect_failed, attempts.cause().message());
        if (until <= steady_now())
            co_return fails(errc::connect_timed_out, "timed out");
        state = co_await asio::this_coro::cancellation_state;
        if (state.cancelled() != asio::cancellation_type::none)
            co_return fails(errc::cancelled, "cancelled");
        co_await attempts.news().wait(seen, std::min(until, attempts.next_at()));
    }
}

}  // namespace holdfast::sim
