#include "core/mongo/error/errc.hpp"
#include "core/mongo/select/explain.hpp"
#include "core/mongo/select/wait_notices.hpp"
#include "shell/mongo/events/log_messages.hpp"
#include "shell/mongo/topology/sdam_events.hpp"
#include "shell/mongo/topology/topology.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::shell::mongo {

using core::mongo::selection_request;
using core::mongo::topology_description;

namespace {

/// What the log says of a selection, kept as long as it says it.
class selection_text {
public:
    selection_text(const selection_request& request, const selection_purpose& why,
                   const topology_description& t)
        : selector_{request.kind == core::mongo::operation_kind::write
                        ? "write"
                        : "read from " + std::string{name_of(request.preference.mode)}},
          topology_{to_text(described(t))},
          why_{why}
    {
    }
    selection_facts facts() const noexcept
    {
        return {why_.operation, why_.id, selector_, topology_};
    }

private:
    std::string selector_;
    std::string topology_;
    const selection_purpose& why_;
};

/// What the last check of every server has ended with, if that is one and the same.
std::optional<error_code> common_failure(const topology_description& t)
{
    if (t.servers.empty() || !t.servers.front()->failure)
        return std::nullopt;
    const error_code first = t.servers.front()->failure->code();
    const bool all = std::ranges::all_of(t.servers, [first](const core::mongo::server_ptr& s) {
        return s->failure && s->failure->code() == first;
    });
    return all ? std::optional{first} : std::nullopt;
}

}  // namespace

result<std::optional<selected_server>> topology::try_select(const selection_request& request,
                                                            const selection_purpose& why)
{
    const auto from = current();
    std::vector<std::uint32_t> found;
    const std::vector<std::uint32_t>* candidates = from->snapshot.prepared(request);
    if (candidates == nullptr) {
        auto computed = from->snapshot.candidates(request);
        if (!computed)
            return std::move(computed).error();
        found = *std::move(computed);
        candidates = &found;
    }
    if (candidates->empty())
        return std::optional<selected_server>{};
    std::uint64_t chance = 0;
    if (candidates->size() > 1) {
        std::uint8_t bytes[sizeof chance];
        world_.random(bytes);
        std::memcpy(&chance, bytes, sizeof chance);
    }
    const auto busy = [&from](std::uint32_t at) {
        return from->servers[at]->operations.load(std::memory_order_relaxed);
    };
    const std::uint32_t at = core::mongo::choose(*candidates, chance, busy);
    if (const log_messages* const log = events_->selection_log()) [[unlikely]] {
        const selection_text text{request, why, *from->snapshot.topology()};
        if (!why.announced)
            log->selection_started(text.facts());
        log->selection_succeeded(text.facts(), from->servers[at]->address);
    }
    return std::optional<selected_server>{std::in_place, from, at};
}

runtime::awaitable<result<selected_server>> topology::select(selection_request request,
                                                             time_point until,
                                                             selection_purpose why)
{
    const auto self = shared_from_this();
    const time_point began = world_.steady_now();
    const log_messages* const log = events_->selection_log();
    if (log != nullptr)
        log->selection_started(
            selection_text{request, why, *current()->snapshot.topology()}.facts());
    why.announced = true;
    core::mongo::wait_notices notices{began, log != nullptr, events_->has_only_fallback()};
    for (;;) {
        const std::uint64_t seen = changed_.count();
        auto found = try_select(request, why);
        if (!found)
            co_return not_selected(std::move(found).error(), request, why);
        if (*found)
            co_return std::move(**found);
        const auto t = current()->snapshot.topology();
        if (is_closed())
            co_return not_selected(error{runtime::errc::cancelled, "the client is closed"}, request,
                                   why);
        if (options_.fail_fast_on_terminal_errors && is_hopeless(*t, began))
            co_return not_selected(no_match(*t, request, "waiting will not help"), request, why);
        const time_point now = world_.steady_now();
        if (now >= until) {
            const std::string text = "server selection timed out after " +
                                     core::mongo::short_text(now - began);
            co_return not_selected(no_match(*t, request, text), request, why);
        }
        request_all_checks();
        runtime::wait_end end = runtime::wait_end::timed_out;
        while (end == runtime::wait_end::timed_out && world_.steady_now() < until) {
            end = co_await changed_.wait(seen, notices.next(until));
            announce_wait(notices, request, until, why);
        }
        if (end == runtime::wait_end::cancelled)
            co_return not_selected(
                error{runtime::errc::cancelled, "cancelled while waiting for a server"}, request,
                why);
    }
}

/// Logs that a selection waits; without a log, one line is written if it waits for long.
void topology::announce_wait(core::mongo::wait_notices& notices, const selection_request& request,
                             time_point until, const selection_purpose& why)
{
    const time_point now = world_.steady_now();
    const auto t = current()->snapshot.topology();
    if (notices.log_is_due(now, until)) {
        if (const log_messages* const log = events_->selection_log())
            log->selection_waits(selection_text{request, why, *t}.facts(), until - now);
    }
    if (!notices.warning_is_due(now) || !may_warn_of_wait(now))
        return;
    std::string text{why.operation};
    text += " has waited " + core::mongo::short_text(core::mongo::wait_notices::warn_after) +
            " for a server, and still waits: ";
    text += describe(*t, request);
    events_->warn(holdfast::mongo::log_components::server_selection, text);
}

/// Many operations may wait at a time, and for the same reason.
bool topology::may_warn_of_wait(time_point now)
{
    constexpr std::chrono::seconds pause{60};
    const std::scoped_lock lock{mutex_};
    if (last_wait_warning_ && now - *last_wait_warning_ < pause)
        return false;
    last_wait_warning_ = now;
    return true;
}

std::string topology::describe(const topology_description& t,
                               const selection_request& request) const
{
    core::mongo::running_checks running;
    running.limit = options_.monitor_config ? options_.monitor_config->connect_timeout
                                            : duration::zero();
    {
        const std::scoped_lock lock{mutex_};
        for (const auto& [address, one] : servers_) {
            const auto since = one->monitor ? one->monitor->connecting_since() : std::nullopt;
            if (since)
                running.began.emplace(address, *since);
        }
    }
    return describe_no_match(t, request, options_.selection, world_.steady_now(), running);
}

void topology::request_all_checks()
{
    const std::scoped_lock lock{mutex_};
    for (const auto& [address, one] : servers_) {
        const auto known = known_->find(address);
        if (one->monitor)
            one->monitor->request_check(known && core::mongo::is_unknown(known->type));
    }
}

/// Every server has been tried since then, and none of them for the last time in vain but for good.
bool topology::is_hopeless(const topology_description& t, time_point since) const
{
    return !t.servers.empty() &&
           std::ranges::all_of(t.servers, [since](const core::mongo::server_ptr& s) {
               return s->last_update_time >= since && s->failure && is_terminal(*s->failure);
           });
}

error topology::not_selected(error because, const selection_request& request,
                             const selection_purpose& why) const
{
    if (const log_messages* const log = events_->selection_log())
        log->selection_failed(selection_text{request, why, *current()->snapshot.topology()}.facts(),
                              because);
    return because;
}

error topology::no_match(const topology_description& t, const selection_request& request,
                         std::string_view why) const
{
    std::string text{why};
    text += ": " + describe(t, request);
    error none{core::mongo::errc::no_server, std::move(text)};
    if (const auto cause = common_failure(t))
        none = std::move(none).with_context("cause", cause->message());
    return none;
}

}  // namespace holdfast::shell::mongo
