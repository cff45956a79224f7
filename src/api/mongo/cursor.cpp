#include "holdfast/mongo/cursor.hpp"

#include "api/mongo/access.hpp"
#include "api/mongo/client_impl.hpp"
#include "api/mongo/cursor_end.hpp"
#include "api/mongo/make_cursor.hpp"
#include "core/mongo/error/errc.hpp"
#include "core/mongo/error/server_error.hpp"
#include "holdfast/mongo/error.hpp"

#include <chrono>
#include <string>
#include <utility>

namespace holdfast::mongo {

namespace {

using shell::mongo::answer_facts;
using shell::mongo::command_order;

}  // namespace

/// One query and the batch that is at hand. Coroutines keep it by a shared pointer.
class cursor::impl {
public:
    impl(cursor_origin&& from, result<core::mongo::query> what, const session* in)
        : client_{std::move(from.client)},
          in_{std::move(from.in)},
          command_{std::move(from.command)},
          session_{client_->order_for({}, in).session}
    {
        if (!what) {
            fault_ = named(std::move(what).error());
            return;
        }
        timeout_ = what->first.timeout;
        first_ = std::move(what->first);
        rules_ = std::move(what->rules);
    }
    impl(const impl&) = delete;
    impl& operator=(const impl&) = delete;
    ~impl() { kill_in_background(); }

    template <class Outcome>
    static asio::awaitable<Outcome> next(std::shared_ptr<impl> self, bool once)
    {
        using found = std::optional<bson::document>;
        if (!self->has_document()) {
            auto more = co_await refill(self, once);
            if (!more)
                co_return details::give<Outcome>(result<found>{std::move(more).error()});
            if (!*more)
                co_return details::give<Outcome>(result<found>{found{}});
        }
        co_return details::give<Outcome>(result<found>{self->take()});
    }

    template <class Outcome>
    static asio::awaitable<Outcome> next_batch(std::shared_ptr<impl> self)
    {
        if (!self->has_document()) {
            auto more = co_await refill(self, false);
            if (!more || !*more) {
                self->shown_ = {};
                co_return details::give<Outcome>(std::move(more));
            }
        }
        self->hand_out();
        co_return details::give<Outcome>(result<bool>{true});
    }

    template <class Outcome>
    static asio::awaitable<Outcome> close(std::shared_ptr<impl> self)
    {
        auto last = self->parting();
        self->end();
        if (last)
            co_await say(self->client_->state, *std::move(last));
        co_return details::give<Outcome>(result<void>{});
    }

    batch_view batch() const noexcept { return batch_view{shown_}; }
    std::int64_t id() const noexcept { return id_; }
    const std::string& space() const noexcept { return space_; }
    bool is_open() const noexcept { return can_ask() || has_document(); }
    asio::any_io_executor executor() const noexcept { return client_->world->executor(); }

private:
    /// Asks the server until it sends a document, or once; false if there is none. After an error
    /// that came by cancellation, nothing may be awaited any more.
    static asio::awaitable<result<bool>> refill(std::shared_ptr<impl> self, bool once)
    {
        // A cancelled command is a failed one; Asio would throw out of the next co_await.
        const bool throws = co_await asio::this_coro::throw_if_cancelled();
        co_await asio::this_coro::throw_if_cancelled(false);
        auto outcome = co_await ask(self, once);
        auto last = std::exchange(self->unsaid_, std::nullopt);
        if (last)
            co_await say(self->client_->state, *std::move(last));
        co_await asio::this_coro::throw_if_cancelled(throws);
        co_return outcome;
    }

    static asio::awaitable<result<bool>> ask(std::shared_ptr<impl> self, bool once)
    {
        while (self->can_ask()) {
            if (auto why = self->obstacle())
                co_return *std::move(why);
            command_order order = self->next_order();
            auto reply = co_await self->client_->run(std::move(order));
            if (!reply) {
                const bool empty = self->means_empty(reply.error());
                auto last = self->give_up(reply.error());
                if (last)
                    co_await say(self->client_->state, *std::move(last));
                if (empty)
                    break;
                co_return std::move(reply).error();
            }
            auto taken = self->take_in(*std::move(reply));
            if (!taken)
                co_return self->named(std::move(taken).error());
            if (self->has_document())
                co_return true;
            if (once || self->rules_.tailable)
                break;
        }
        co_return false;
    }

    /// Why the server need not be asked at all.
    std::optional<error> obstacle()
    {
        if (fault_) {
            end();
            return std::exchange(fault_, std::nullopt);
        }
        if (fresh_ || rules_.tailable || !until_.is_set() ||
            !until_.expired(client_->world->steady_now()))
            return std::nullopt;
        error late = named(
            error{core::mongo::errc::operation_timed_out,
                  "the time that the whole query has was up before all documents were read"});
        kill_in_background();
        end();
        return late;
    }

    /// An error that no command has, with the name of the one that it is about.
    error named(error why) const
    {
        if (space_.empty())
            return core::mongo::with_operation(std::move(why), command_, *in_);
        return core::mongo::with_operation(std::move(why), "getMore", space_);
    }

    bool means_empty(const error& why) const noexcept
    {
        return fresh_ && rules_.missing_is_empty && core::mongo::is_namespace_not_found(why);
    }

    /// An error ends the cursor. Gives the killCursors to be awaited, unless it is better sent in
    /// the background.
    std::optional<kill_cursors> give_up(const error& why)
    {
        std::optional<kill_cursors> last;
        const error_kind kind = kind_of(why);
        const bool interrupted = kind == error_kind::cancelled || kind == error_kind::timeout;
        if (facts_.pin && !interrupted) {
            wait_for_close(may_be_left(why));
            return last;
        }
        if (interrupted)
            kill_in_background();
        else if (may_be_left(why))
            last = parting();
        end();
        return last;
    }

    /// Behind a load balancer the connection stays with a cursor that has failed, too, until the
    /// application closes it.
    void wait_for_close(bool server_has_it) noexcept
    {
        failed_ = true;
        counted_ = {};
        at_ = {};
        shown_ = {};
        id_ = server_has_it ? id_ : 0;
    }

    bool can_ask() const noexcept { return fresh_ || (id_ != 0 && !failed_); }
    bool has_document() const noexcept { return at_ != std::default_sentinel; }

    bson::document take()
    {
        bson::document found{*at_};
        ++at_;
        shown_ = at_;
        return found;
    }

    /// All that is left of the batch belongs to the caller now.
    void hand_out() noexcept { shown_ = std::exchange(at_, {}); }

    command_order next_order()
    {
        command_order order = fresh_ ? first_order() : further_order();
        order.session = session_;
        order.facts = &facts_;
        order.opens_cursor = true;
        return order;
    }

    command_order first_order()
    {
        if (!session_)
            session_ = client_->implicit_session();
        counted_ = shell::mongo::running_operation{*client_->running};
        command_order order = client_->order_for(std::move(first_), nullptr);
        until_ = order.until;
        return order;
    }

    /// The time limit is that of the whole query, unless the query has no end.
    command_order further_order() const
    {
        core::mongo::command more = core::mongo::get_more(space_, id_, rules_, received_,
                                                          facts_.wire_version);
        more.only_server = facts_.server;
        more.timeout = timeout_;
        command_order order = client_->order_for(std::move(more), nullptr);
        if (!rules_.tailable)
            order.until = until_;
        order.continues = true;
        return order;
    }

    result<void> take_in(bson::document reply)
    {
        reply_ = std::move(reply);
        const auto batch = core::mongo::read_batch(reply_.view());
        if (!batch) {
            end();
            return batch.error();
        }
        if (std::exchange(fresh_, false))
            space_ = batch->space;
        id_ = batch->id;
        received_ += batch->count;
        at_ = batch_view::iterator{batch->documents};
        shown_ = at_;
        if (id_ != 0 && rules_.limit > 0 && received_ >= rules_.limit)
            kill_in_background();
        if (id_ == 0)
            release();
        return {};
    }

    /// The killCursors command, if the server has a cursor open. It is forgotten here as well.
    std::optional<kill_cursors> parting()
    {
        if (id_ == 0)
            return std::nullopt;
        core::mongo::command what = core::mongo::kill_cursor(space_, std::exchange(id_, 0));
        what.only_server = facts_.server;
        what.timeout = timeout_;
        kill_cursors last;
        last.order = client_->order_for(std::move(what), nullptr);
        last.order.until = core::deadline::sooner(last.order.until,
                                                  kill_cursors_deadline(*client_));
        last.order.session = session_;
        last.facts = std::exchange(facts_, answer_facts{});
        return last;
    }

    /// In a blocking client the next read awaits it, or else the destructor of mongo::sync::cursor:
    /// the client's own thread is there to monitor servers.
    void kill_in_background() noexcept
    try {
        if (id_ == 0)
            return;
        auto last = parting();
        if (!client_->is_open())
            return;
        if (client_->make_blocking)
            unsaid_ = std::move(last);
        else
            say_in_background(*client_, *std::move(last));
    } catch (...) {
        // Out of memory: the server ends the cursor by itself later.
    }

    /// The server has no more: what was kept for it goes back.
    void release()
    {
        counted_ = {};
        session_.reset();
        facts_.pin.reset();
    }

    void end()
    {
        fresh_ = false;
        id_ = 0;
        at_ = {};
        shown_ = {};
        release();
    }

    const std::shared_ptr<client_impl> client_;
    const std::shared_ptr<const collection_settings> in_;
    const std::string command_;  // the first
    shell::mongo::running_operation counted_;  // between its commands as well
    std::shared_ptr<shell::mongo::session_state> session_;  // the application's, or one of ours
    std::optional<error> fault_;  // of the query itself
    core::mongo::command first_;
    core::mongo::cursor_rules rules_;
    std::optional<std::chrono::milliseconds> timeout_;
    core::deadline until_;
    answer_facts facts_;
    std::optional<kill_cursors> unsaid_;  // what kill_in_background() leaves to others

    bool fresh_ = true;  // nothing has been sent yet
    bool failed_ = false;  // see wait_for_close()
    std::int64_t id_ = 0;
    std::string space_;
    std::int64_t received_ = 0;
    bson::document reply_;  // what the iterators point into
    batch_view::iterator at_;  // the next document to be given out
    batch_view::iterator shown_;  // what batch() begins with
};

cursor make_cursor(cursor_origin from, result<core::mongo::query> what, const session* in)
{
    return access::make_cursor(
        std::make_shared<access::cursor_impl>(std::move(from), std::move(what), in));
}

batch_view cursor::batch() const noexcept
{
    return impl_->batch();
}

std::int64_t cursor::id() const noexcept
{
    return impl_->id();
}

std::string cursor::namespace_name() const
{
    return impl_->space();
}

bool cursor::is_open() const noexcept
{
    return impl_->is_open();
}

asio::any_io_executor cursor::executor() const noexcept
{
    return impl_->executor();
}

template <class Outcome>
asio::awaitable<Outcome> cursor::next_as(bool once)
{
    return impl::next<Outcome>(impl_, once);
}

template <class Outcome>
asio::awaitable<Outcome> cursor::next_batch_as()
{
    return impl::next_batch<Outcome>(impl_);
}

template <class Outcome>
asio::awaitable<Outcome> cursor::close_as()
{
    return impl::close<Outcome>(impl_);
}

using maybe = std::optional<bson::document>;
template asio::awaitable<maybe> cursor::next_as<maybe>(bool);
template asio::awaitable<result<maybe>> cursor::next_as<result<maybe>>(bool);
template asio::awaitable<bool> cursor::next_batch_as<bool>();
template asio::awaitable<result<bool>> cursor::next_batch_as<result<bool>>();
template asio::awaitable<void> cursor::close_as<void>();
template asio::awaitable<result<void>> cursor::close_as<result<void>>();

}  // namespace holdfast::mongo
