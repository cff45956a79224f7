#include "api/couchbase/service_rows.hpp"

#include "core/couchbase/service/service_reply.hpp"
#include "holdfast/couchbase/content.hpp"
#include "shell/couchbase/execute/row_stream.hpp"

#include <boost/asio/this_coro.hpp>
#include <boost/core/demangle.hpp>

#include <optional>
#include <utility>

namespace holdfast::couchbase {

namespace {

namespace core_cb = core::couchbase;

class service_rows final : public row_source {
public:
    service_rows(std::shared_ptr<cluster_impl> in, service_type service, result<row_order> what)
        : cluster_{std::move(in)}, service_{service}
    {
        if (service_ == service_type::search)
            metadata_ = search_metadata{};
        else if (service_ == service_type::views)
            metadata_ = view_metadata{};
        if (what)
            order_ = *std::move(what);
        else
            fault_ = std::move(what).error();
    }

    std::optional<std::string_view> take() override
    {
        return stream_ ? stream_->take() : std::nullopt;
    }

    asio::awaitable<result<bool>> fetch() override
    {
        if (fault_)
            co_return *std::exchange(fault_, std::nullopt);
        if (order_)
            open();
        if (!stream_)
            co_return false;
        // A cancelled request is a failed one; Asio would throw out of the next co_await.
        const bool throws = co_await asio::this_coro::throw_if_cancelled();
        co_await asio::this_coro::throw_if_cancelled(false);
        auto more = co_await stream_->fetch();
        co_await asio::this_coro::throw_if_cancelled(throws);
        if (more && *more)
            co_return true;
        if (more)
            co_return finish();
        stream_.reset();
        co_return explained(std::move(more).error());
    }

    void close() noexcept override
    {
        fault_.reset();
        order_.reset();
        stream_.reset();
    }

    asio::any_io_executor executor() const noexcept override { return cluster_->world->executor(); }

private:
    /// The time of the request begins now.
    void open()
    {
        row_order from = *std::exchange(order_, std::nullopt);
        facts_ = std::move(from.facts);
        cluster_->nodes().start();
        shell::couchbase::service_call call;
        call.operation = std::move(from.operation);
        call.target = std::move(from.target);
        call.began = cluster_->world->steady_now();
        call.until = core::deadline::after(call.began, from.timeout);
        call.strategy = std::move(from.strategy);
        call.context = std::move(from.context);
        stream_.emplace(cluster_->state, std::move(call), core_cb::rows_array_of(service_));
    }

    /// The last row was read: what comes behind it.
    bool finish()
    {
        const std::string_view text = stream_->metadata();
        if (service_ == service_type::search)
            metadata_ = core_cb::read_search_metadata(text);
        else if (service_ == service_type::views)
            metadata_ = core_cb::read_view_metadata(text);
        else
            metadata_ = core_cb::read_query_metadata(text);
        stream_.reset();
        return false;
    }

    error explained(error why) const
    {
        for (const context_entry& fact : facts_)
            why = std::move(why).with_context(fact.name, fact.value);
        return why;
    }

    error unreadable(error why, const std::type_info& as) const override
    {
        why = details::not_decoded(std::move(why))
                  .with_context("operation", "read a row as " + boost::core::demangle(as.name()));
        return explained(std::move(why));
    }

    const std::shared_ptr<cluster_impl> cluster_;
    const service_type service_;
    std::optional<error> fault_;      // of the request itself
    std::optional<row_order> order_;  // until it is sent
    std::vector<context_entry> facts_;
    std::optional<shell::couchbase::row_stream> stream_;  // until its end
};

}  // namespace

std::shared_ptr<row_source> make_rows(std::shared_ptr<cluster_impl> in, service_type service,
                                      result<row_order> what)
{
    return std::make_shared<service_rows>(std::move(in), service, std::move(what));
}

}  // namespace holdfast::couchbase
