#include "shell/mongo/events/event_hub.hpp"

#include "shell/mongo/events/log_messages.hpp"
#include "shell/planted.hpp"

#include <utility>

namespace holdfast::shell::mongo {
namespace {

/// Passes an event to one listener; heartbeats in their public form.
struct notifier {
    holdfast::mongo::event_listener& to;

    void operator()(const heartbeat_reply& e) const
    {
        to.on(events::server_heartbeat_succeeded{e.server, e.awaited, e.took, e.reply.view()});
    }
    void operator()(const heartbeat_failure& e) const
    {
        to.on(events::server_heartbeat_failed{e.server, e.awaited, e.took, e.failure});
    }
    void operator()(const queued_warning&) const {}
    void operator()(const auto& e) const { to.on(e); }
};

}  // namespace

event_hub::event_hub(std::vector<std::shared_ptr<holdfast::mongo::event_listener>> listeners,
                     std::shared_ptr<log_sink> log, std::size_t most,
                     std::shared_ptr<log_sink> fallback)
    : listeners_{std::move(listeners)},
      log_{std::move(log)},
      fallback_{std::move(fallback)},
      text_{log_ ? std::make_unique<log_messages>(*log_, most) : nullptr},
      silent_{listeners_.empty() && !log_},
      hears_commands_{
          !listeners_.empty() ||
          (log_ && log_->wants(holdfast::mongo::log_components::command, severity::debug))}
{
}

event_hub::~event_hub() = default;

void event_hub::queue(queued_event what)
{
    if (!silent_)
        queue_.push(std::move(what));
}

void event_hub::deliver()
{
    queue_.drain([this](const queued_event& one) { notify(one); });
}

void event_hub::notify(const events::command_started& what) const noexcept
{
    if (text_)
        text_->write(what);
    for (const auto& listener : listeners_)
        listener->on(what);
}

void event_hub::notify(const events::command_succeeded& what) const noexcept
{
    if (text_)
        text_->write(what);
    for (const auto& listener : listeners_)
        listener->on(what);
}

void event_hub::notify(const events::command_failed& what) const noexcept
{
    if (planted.drops_events)
        return;
    if (text_)
        text_->write(what);
    for (const auto& listener : listeners_)
        listener->on(what);
}

void event_hub::report_overdue(time_point now)
{
    if (silent_)
        return;
    auto overdue = in_flight_.take_overdue(now);
    if (overdue.empty())
        return;
    for (events::command_overdue& one : overdue)
        queue(std::move(one));
    deliver();
}

const log_messages* event_hub::selection_log() const noexcept
{
    const bool wanted = log_ && log_->wants(holdfast::mongo::log_components::server_selection,
                                            severity::informational);
    return wanted ? text_.get() : nullptr;
}

void event_hub::warn(log_component from, std::string_view text) const noexcept
{
    log_sink* const to = log_ ? log_.get() : fallback_.get();
    if (to != nullptr && to->wants(from, severity::warning))
        to->write({severity::warning, from, text});
}

void event_hub::notify(const queued_event& what) noexcept
{
    if (const auto* opening = std::get_if<events::topology_opening>(&what))
        topology_ = opening->topology;
    if (text_)
        text_->write(what, topology_);
    for (const auto& listener : listeners_)
        std::visit(notifier{*listener}, what);
}

}  // namespace holdfast::shell::mongo
