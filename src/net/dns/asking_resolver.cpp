#include "net/dns/asking_resolver.hpp"

#include "net/dns/names.hpp"

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>

#include <utility>

namespace holdfast::net {

namespace asio = boost::asio;

// Whoever is cancelled already must not come to a co_await of ours: Asio throws there, unless it
// was told not to. Hence the awaitables are made only after the question has been asked.

runtime::awaitable<result<std::vector<std::string>>> asking_resolver::addresses(std::string host,
                                                                                time_point until)
{
    if (auto known = known_addresses(host))
        co_return *std::move(known);
    question what{question::kind::addresses, std::move(host)};
    const auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none)
        co_return lookup_cancelled(what);
    auto answered = co_await ask_in_time(std::move(what), until);
    if (!answered)
        co_return std::move(answered).error();
    co_return std::move(answered->texts);
}

runtime::awaitable<result<std::vector<runtime::srv_record>>> asking_resolver::srv(std::string name,
                                                                                  time_point until)
{
    question what{question::kind::srv, std::move(name)};
    const auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none)
        co_return lookup_cancelled(what);
    auto answered = co_await ask_in_time(std::move(what), until);
    if (!answered)
        co_return std::move(answered).error();
    co_return std::move(answered->services);
}

runtime::awaitable<result<std::vector<std::string>>> asking_resolver::txt(std::string name,
                                                                          time_point until)
{
    question what{question::kind::txt, std::move(name)};
    const auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none)
        co_return lookup_cancelled(what);
    auto answered = co_await ask_in_time(std::move(what), until);
    if (!answered)
        co_return std::move(answered).error();
    co_return std::move(answered->texts);
}

runtime::awaitable<result<found>> asking_resolver::ask_in_time(question what, time_point until)
{
    if (world_.steady_now() >= until)
        co_return lookup_timed_out(what);
    co_return co_await ask(std::move(what), until);
}

}  // namespace holdfast::net
