#include "net/dns/lookup.hpp"

#include <boost/asio/execution/context_as.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::net {

lookup::lookup(runtime::world& in, const asio::execution_context& waiter)
    : on_{in.executor()}, waiter_{waiter}, news_{in}
{
}

void lookup::start(const dns_settings& settings, question what)
{
    auto& context = asio::query(on_, asio::execution::context_as<asio::execution_context&>);
    auto& service = asio::use_service<lookup_service>(context);
    const std::scoped_lock lock{mutex_};
    service.enter(*this);
    service_ = &service;
    what_ = what;
    query_.emplace(settings, std::move(what), *this);
    wait_for_sockets();
}

std::optional<result<found>> lookup::take()
{
    const std::scoped_lock lock{mutex_};
    if (failure_)
        return *std::move(failure_);
    return query_ ? std::move(query_->outcome()) : std::nullopt;
}

time_point lookup::due(time_point now)
{
    const std::scoped_lock lock{mutex_};
    return query_ ? query_->due(now) : runtime::never;
}

void lookup::process_time()
{
    const std::scoped_lock lock{mutex_};
    if (!query_)
        return;
    query_->process_time();
    wait_for_sockets();
}

void lookup::stop() noexcept
{
    const std::scoped_lock lock{mutex_};
    close();
    if (lookup_service* const service = std::exchange(service_, nullptr))
        service->leave(*this);
}

void lookup::abandon(const asio::execution_context& gone)
{
    {
        const std::scoped_lock lock{mutex_};
        close();
        service_ = nullptr;
        failure_ = lookup_cancelled(what_);
    }
    // On this context the coroutine is dropped like all that wait; elsewhere it goes on.
    if (&gone != &waiter_)
        news_.notify();
}

void lookup::close() noexcept
{
    if (query_)
        query_->give_up();  // and so return_socket(), for each
    query_.reset();
}

void lookup::watch(int socket, bool for_read, bool for_write) noexcept
{
    if (!for_read && !for_write)
        return return_socket(socket);
    const auto known = std::ranges::find(sockets_, socket, &watched::socket);
    if (known != sockets_.end()) {
        (*known)->for_read = for_read;
        (*known)->for_write = for_write;
        return;
    }
    auto added = std::make_shared<watched>(on_, socket);
    added->for_read = for_read;
    added->for_write = for_write;
    sockets_.push_back(std::move(added));
}

void lookup::return_socket(int socket) noexcept
{
    const auto known = std::ranges::find(sockets_, socket, &watched::socket);
    if (known == sockets_.end())
        return;
    (*known)->returned = true;
    if ((*known)->waiting.is_open())
        (*known)->waiting.release();
    sockets_.erase(known);
}

void lookup::wait_for_sockets()
{
    for (const watched_ptr& one : sockets_) {
        error_code why;
        if (!one->waiting.is_open())
            one->waiting.assign(one->socket, why);
        if (why) {
            // Without a watched socket an answer would never be noticed.
            failure_ = lookup_failed(what_, ARES_ENOMEM);
            return;
        }
        const auto wait = [&](asio::posix::stream_descriptor::wait_type direction, bool for_read) {
            one->waiting.async_wait(direction, [self = shared_from_this(), one, for_read](
                                                   error_code) { self->on_ready(*one, for_read); });
        };
        if (one->for_read && !std::exchange(one->reads, true))
            wait(asio::posix::stream_descriptor::wait_read, true);
        if (one->for_write && !std::exchange(one->writes, true))
            wait(asio::posix::stream_descriptor::wait_write, false);
    }
}

void lookup::on_ready(watched& which, bool for_read)
{
    {
        const std::scoped_lock lock{mutex_};
        (for_read ? which.reads : which.writes) = false;
        if (which.returned || !query_)
            return;
        query_->process(which.socket, for_read, !for_read);
        wait_for_sockets();
    }
    news_.notify();
}

void lookup_service::enter(lookup& who)
{
    const std::scoped_lock lock{mutex_};
    all_.push_back(&who);
}

void lookup_service::leave(lookup& who) noexcept
{
    const std::scoped_lock lock{mutex_};
    std::erase(all_, &who);
}

void lookup_service::shutdown() noexcept
{
    for (;;) {
        std::shared_ptr<lookup> one;
        {
            const std::scoped_lock lock{mutex_};
            if (all_.empty())
                return;
            one = all_.back()->weak_from_this().lock();
            all_.pop_back();
        }
        if (one)
            one->abandon(context());
    }
}

}  // namespace holdfast::net
