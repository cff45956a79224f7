#include "net/dns/asking_resolver.hpp"

#include "net/dns/names.hpp"

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>

#include <utility>

namespace holdfast::net {

namespace asio = boost::asio;

runtime::awaitable<result<std::vector<std::string>>> asking_resolver::addresses(std::string host,
                                                                                time_point until)
{
    return ask_for({question::kind::addresses, std::move(host)}, until, &found::texts);
}

runtime::awaitable<result<std::vector<runtime::srv_record>>> asking_resolver::srv(std::string name,
                                                                                  time_point until)
{
    return ask_for({question::kind::srv, std::move(name)}, until, &found::services);
}

runtime::awaitable<result<std::vector<std::string>>> asking_resolver::txt(std::string name,
                                                                          time_point until)
{
    return ask_for({question::kind::txt, std::move(name)}, until, &found::texts);
}

template <class Records>
runtime::awaitable<result<Records>> asking_resolver::ask_for(question what, time_point until,
                                                             Records found::* part)
{
    if (what.what == question::kind::addresses) {
        found known;
        if (auto texts = known_addresses(what.name)) {
            known.texts = *std::move(texts);
            co_return std::move(known.*part);
        }
    }
    // A coroutine that is cancelled already must not reach a co_await, where Asio would throw.
    const auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none)
        co_return lookup_cancelled(what);
    if (world_.steady_now() >= until)
        co_return lookup_timed_out(what);
    auto answered = co_await ask(std::move(what), until);
    if (!answered)
        co_return std::move(answered).error();
    co_return std::move((*answered).*part);
}

}  // namespace holdfast::net
