#include "shell/couchbase/execute/row_stream.hpp"

#include "core/couchbase/service/service_reply.hpp"
#include "shell/couchbase/execute/http_attempts.hpp"

#include <boost/asio/this_coro.hpp>

#include <string>
#include <utility>
#include <variant>

namespace holdfast::shell::couchbase {

namespace this_coro = runtime::asio::this_coro;

class row_stream::attempts final : public http_attempts {
public:
    attempts(std::shared_ptr<cluster_state> cluster, service_call call, std::string_view rows,
             const core::couchbase::row_limits& limits)
        : http_attempts{std::move(cluster), std::move(call)}, name_{rows}, limits_{limits}
    {
    }

    std::optional<std::string_view> take()
    {
        if (!row_ && (stage_ != stage::streaming || !split_at_hand()))
            return std::nullopt;
        ++handed_out_;
        return std::exchange(row_, std::nullopt);
    }

    runtime::awaitable<result<bool>> fetch()
    {
        if (row_)
            co_return true;
        if (stage_ == stage::ended)
            co_return false;
        // Asio would throw out of the next co_await.
        const bool caller_wants_throw = co_await this_coro::throw_if_cancelled();
        co_await this_coro::throw_if_cancelled(false);
        std::optional<error> why;
        if (stage_ == stage::fresh) {
            stage_ = stage::streaming;
            auto begun = co_await remaining_attempts<http_attempts>(cluster_->world, *this,
                                                                    call_.until, std::nullopt);
            if (!begun)
                why = std::move(begun).error();
        } else {
            phase_ = dispatch_phase::in_flight;
            why = co_await read_on();
            if (why)
                why = co_await explain(*std::move(why));
        }
        co_await this_coro::throw_if_cancelled(caller_wants_throw);
        if (why || !row_)
            abandon();
        if (why)
            co_return std::move(*why).with_context("rows", std::to_string(handed_out_));
        co_return row_.has_value();
    }

    std::string_view metadata() const noexcept
    {
        return splitter_ ? std::string_view{splitter_->metadata()} : std::string_view{body_};
    }
    std::uint64_t rows() const noexcept { return handed_out_; }
    using attempt_decisions::retry_attempts;
    endpoint target() const { return target_.value_or(endpoint{}); }

    void abandon() noexcept
    {
        stage_ = stage::ended;
        row_.reset();
        on_.reset();
    }

private:
    enum class stage : std::uint8_t { fresh, streaming, ended };

    /// Rows begin only when it is known that the reply is a success: that of a query may report
    /// errors behind an empty list of rows.
    runtime::awaitable<std::optional<error>> read_reply() override
    {
        splitter_.reset();
        last_step_.reset();
        std::optional<error> why;
        if (core::couchbase::has_rows(head_.status)) {
            splitter_.emplace(name_, limits_);
            why = co_await read_on();
        } else {
            why = co_await collect(core::couchbase::max_error_body, true);
            if (!why)
                why = classified(body_);
        }
        co_return why;
    }

    /// Up to the next row, which is there then, or to the end of the reply.
    runtime::awaitable<std::optional<error>> read_on()
    {
        if (!splitter_)
            co_return std::nullopt;
        while (!split_at_hand()) {
            if (splitter_->failed())
                co_return undecodable();
            if (!last_step_) {
                auto step = co_await (*on_)->next_piece();
                take_step(std::move(step));
                continue;
            }
            if (auto* const failed = std::get_if<http::exchange_failure>(&*last_step_))
                co_return broken(std::move(*failed));
            on_.reset();
            if (!splitter_->finish())
                co_return undecodable();
            co_return classified(splitter_->metadata());
        }
        co_return std::nullopt;
    }

    /// True if there is a row in what was read already.
    bool split_at_hand()
    {
        std::string_view row;
        while (!splitter_->next(row)) {
            if (splitter_->failed() || last_step_)
                return false;
            auto step = (*on_)->piece_at_hand();
            if (!step)
                return false;
            take_step(*std::move(step));
        }
        row_ = row;
        return true;
    }

    void take_step(http::body_step step)
    {
        const auto* const piece = std::get_if<http::body_piece>(&step);
        if (piece != nullptr && !piece->empty())
            splitter_->feed({reinterpret_cast<const char*>(piece->data()), piece->size()});
        else
            last_step_ = std::move(step);
    }

    error undecodable()
    {
        reason_.reset();
        on_.reset();
        error why = std::move(*splitter_).fault();
        return std::move(why).with_context("server", target().value());
    }

    /// The error of a reply that broke off after its first row.
    runtime::awaitable<error> explain(error why)
    {
        const auto cancellation = co_await this_coro::cancellation_state;
        const time_point now = cluster_->world.steady_now();
        if (out_of_time_)
            co_return timed_out(now);
        if (cluster_->nodes->is_closed() ||
            cancellation.cancelled() != runtime::asio::cancellation_type::none)
            co_return cancelled(&why, now);
        if (reason_)
            co_return broke_off(std::move(why), std::to_string(handed_out_) + " rows");
        co_return explained(std::move(why));
    }

    const std::string_view name_;
    const core::couchbase::row_limits limits_;
    stage stage_ = stage::fresh;
    std::optional<core::couchbase::row_splitter> splitter_;
    std::optional<std::string_view> row_;  // at hand
    std::optional<http::body_step> last_step_;  // the end of the body, however it came
    std::uint64_t handed_out_ = 0;
};

row_stream::row_stream(std::shared_ptr<cluster_state> cluster, service_call call,
                       std::string_view rows, const core::couchbase::row_limits& limits)
    : attempts_{std::make_unique<attempts>(std::move(cluster), std::move(call), rows, limits)}
{
}

row_stream::row_stream(row_stream&&) noexcept = default;
row_stream& row_stream::operator=(row_stream&&) noexcept = default;
row_stream::~row_stream() = default;

std::optional<std::string_view> row_stream::take()
{
    return attempts_->take();
}

runtime::awaitable<result<bool>> row_stream::fetch()
{
    return attempts_->fetch();
}

std::string_view row_stream::metadata() const noexcept
{
    return attempts_->metadata();
}

std::uint64_t row_stream::rows() const noexcept
{
    return attempts_->rows();
}

std::uint32_t row_stream::retry_attempts() const noexcept
{
    return attempts_->retry_attempts();
}

endpoint row_stream::server() const
{
    return attempts_->target();
}

void row_stream::abandon() noexcept
{
    attempts_->abandon();
}

}  // namespace holdfast::shell::couchbase
