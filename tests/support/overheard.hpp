#pragma once
#include "holdfast/bson/json.hpp"
#include "holdfast/log.hpp"
#include "holdfast/mongo/client_options.hpp"
#include "support/log_fields.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::proof {

namespace events = mongo::events;

/// All that a client says of itself, in events and log messages, and all that is added by hand: one
/// long text, to be searched for what must not be in it.
class overheard final : public mongo::event_listener, public log_sink {
public:
    /// A client that is listened to as closely as possible.
    static mongo::client_options options(const std::shared_ptr<overheard>& by)
    {
        mongo::client_options client;
        client.listeners.push_back(by);
        client.log = by;
        client.log_document_length = 1'000'000;
        return client;
    }

    void add(std::string_view what)
    {
        const std::scoped_lock lock{mutex_};
        text_.append(what).append("\n");
    }
    void add(const error& what)
    {
        add(what.message());
        add(what.explain());
        for (const context_entry& one : what.context())
            add(one.name + ": " + one.value);
        add(failure{what}.what());
    }
    std::string text() const
    {
        const std::scoped_lock lock{mutex_};
        return text_;
    }

    bool wants(log_component, severity) const noexcept override { return true; }
    void write(const log_record& record) noexcept override
    {
        add(record.message);
        add(as_document(record.fields));
    }

    void on(const events::command_started& e) noexcept override { add(e.of, e.command); }
    void on(const events::command_succeeded& e) noexcept override { add(e.of, e.reply); }
    void on(const events::command_failed& e) noexcept override
    {
        add(e.of, {});
        add(e.failure);
    }
    void on(const events::connection_closed& e) noexcept override { add(e.reason, e.failure); }
    void on(const events::connection_check_out_failed& e) noexcept override
    {
        add(e.reason, e.failure);
    }
    void on(const events::topology_description_changed& e) noexcept override
    {
        for (const auto* const which : {&e.previous, &e.current}) {
            add(which->type + " " + which->compatibility_error.value_or(""));
            for (const mongo::server_description& one : which->servers)
                add(one.type, one.failure);
        }
    }
    void on(const events::server_description_changed& e) noexcept override
    {
        add(e.previous.type, e.previous.failure);
        add(e.current.type, e.current.failure);
    }
    void on(const events::server_heartbeat_succeeded& e) noexcept override { add(e.reply); }
    void on(const events::server_heartbeat_failed& e) noexcept override { add(e.failure); }

private:
    void add(bson::view what)
    {
        if (!what.empty())
            add(bson::to_json(what).value_or("not a document"));
    }
    void add(const events::command_facts& of, bson::view what)
    {
        add(of.command_name);
        add(what);
    }
    void add(std::string_view what, const std::optional<error>& why)
    {
        add(what);
        if (why)
            add(*why);
    }

    mutable std::mutex mutex_;
    std::string text_;
};

}  // namespace holdfast::proof
