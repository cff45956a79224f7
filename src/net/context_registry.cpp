#include "net/context_registry.hpp"

#include "net/socket_types.hpp"

#include <boost/asio/execution/context_as.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>

#include <utility>

namespace holdfast::net {

class context_registry::service final : public asio::execution_context::service {
public:
    using key_type = service;
    static inline asio::execution_context::id id;

    explicit service(asio::execution_context& owner) : asio::execution_context::service{owner} {}

    const std::shared_ptr<context_registry> list = std::make_shared<context_registry>();

private:
    void shutdown() noexcept override { list->shut_down(); }
};

std::shared_ptr<context_registry> context_registry::of(const runtime::executor& on)
{
    const stream_socket a_socket{on};
    const stream_acceptor an_acceptor{on};
    const asio::steady_timer a_timer{on};
    const auto a_strand = asio::make_strand(on);  // those of background tasks
    auto& context = asio::query(on, asio::execution::context_as<asio::execution_context&>);
    return asio::use_service<service>(context).list;
}

void context_registry::shut_down() noexcept
{
    const std::scoped_lock lock{mutex_};
    gone_ = true;
    while (first_ != nullptr) {
        context_bound& next = *std::exchange(first_, first_->after_);
        next.linked_ = false;
        next.context_gone();
    }
}

void context_bound::register_self() noexcept
{
    const std::scoped_lock lock{at_->mutex_};
    if (at_->gone_)
        return context_gone();
    before_ = nullptr;
    after_ = std::exchange(at_->first_, this);
    if (after_ != nullptr)
        after_->before_ = this;
    linked_ = true;
}

void context_bound::unregister() noexcept
{
    const std::scoped_lock lock{at_->mutex_};
    if (!linked_)
        return;
    linked_ = false;
    (before_ == nullptr ? at_->first_ : before_->after_) = after_;
    if (after_ != nullptr)
        after_->before_ = before_;
}

}  // namespace holdfast::net
