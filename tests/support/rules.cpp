#include "support/rules.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace holdfast::proof {
namespace {

/// The connection is gone, as opposed to a server that said something. Only such errors say by what
/// cause.
bool is_network_error(const std::optional<error>& why)
{
    return why && !why->context("cause").empty();
}

bool only_unrequested(const error& why)
{
    return why.code() == boost::system::errc::timed_out ||
           why.code() == boost::system::errc::operation_canceled;
}

constexpr int login_expired = 391;

class offences {
public:
    void add(const record& at, const std::string& what)
    {
        if (list_.size() < 20)
            list_.push_back(std::string{name_of(at.what)} + " " + at.server + " #" +
                            std::to_string(at.connection) + ": " + what);
    }
    void add(std::string what) { list_.push_back(std::move(what)); }
    std::vector<std::string> take() { return std::move(list_); }

private:
    std::vector<std::string> list_;
};

class command_rules {
public:
    void see(const record& e, offences& out)
    {
        const auto key = std::tuple{e.server, e.connection, e.request};
        if (e.what == heard::command_started) {
            if (!running_.emplace(key, e.operation).second)
                out.add(e, "a request number is used twice at a time");
            see_number(e, out);
            return;
        }
        const auto at = running_.find(key);
        if (at == running_.end())
            return out.add(e, "an end without a start");
        if (at->second != e.operation)
            out.add(e, "another operation's end");
        running_.erase(at);
    }
    void finish(offences& out) const
    {
        for (const auto& [key, operation] : running_)
            out.add("operation " + std::to_string(operation) + " started a command on " +
                    std::get<0>(key) + " that never ended");
    }

private:
    void see_number(const record& e, offences& out)
    {
        if (!e.transaction)
            return;
        const auto [first, is_new] = numbers_.try_emplace(e.operation, *e.transaction);
        if (first->second.number != e.transaction->number ||
            first->second.session != e.transaction->session)
            out.add(e, "a retry with another session or transaction number");
        if (!is_new)
            return;
        const auto number = std::pair{e.transaction->session, e.transaction->number};
        if (!used_.emplace(number, e.operation).second)
            out.add(e, "a transaction number that another operation has used");
    }

    std::map<std::tuple<std::string, std::int64_t, std::int32_t>, std::int64_t> running_;
    std::map<std::int64_t, events::transaction_id> numbers_;
    std::map<std::pair<bson::uuid, std::int64_t>, std::int64_t> used_;
};

class pool_rules {
public:
    pool_rules(std::string server, rule_limits limits) : server_{std::move(server)}, limits_{limits}
    {
    }

    void see(const record& e, offences& out)
    {
        if (closed_ && e.what != heard::connection_closed && e.what != heard::checked_in &&
            e.what != heard::check_out_failed && e.what != heard::check_out_started)
            out.add(e, "after its pool was closed");
        switch (e.what) {
        case heard::pool_created:
            if (std::exchange(created_, true))
                out.add(e, "created twice");
            break;
        case heard::pool_ready:
            if (std::exchange(ready_, true))
                out.add(e, "ready twice");
            break;
        case heard::pool_cleared:
            if (!std::exchange(ready_, false))
                out.add(e, "a paused pool publishes a second pool cleared");
            ++generation_;
            break;
        case heard::pool_closed:
            closed_ = true;
            break;
        case heard::check_out_started:
            ++waiting_;
            break;
        case heard::check_out_failed:
            if (waiting_-- == 0)
                out.add(e, "there was no request");
            break;
        default:
            see_connection(e, out);
        }
        if (!created_)
            out.add(e, "before its pool was created");
    }

    void see_command(const record& e, offences& out)
    {
        const auto at = connections_.find(e.connection);
        if (at == connections_.end() || at->second.now != state::out)
            return out.add(e, "over a connection that is not checked out");
        connection& c = at->second;
        if (e.what == heard::command_started)
            return;
        if (e.failure && is_network_error(e.failure)) {
            c.broken = !only_unrequested(*e.failure);
            return;
        }
        if (!e.failure || e.failure->code().value() != login_expired)
            c.due_back = e.when;  // else it logs in again first
    }

    bool is_ready() const noexcept { return ready_; }

    void finish(offences& out) const
    {
        if (waiting_ != 0)
            out.add(server_ + ": " + std::to_string(waiting_) + " check-outs never ended");
        if (!limits_.closed)
            return;
        if (created_ && !closed_)
            out.add(server_ + ": the pool was never closed");
        for (const auto& [id, c] : connections_) {
            if (c.now != state::closed)
                out.add(server_ + ": connection " + std::to_string(id) + " was never closed");
        }
    }

private:
    enum class state : std::uint8_t { opening, idle, out, closed };
    struct connection {
        state now = state::opening;
        std::size_t generation = 0;
        bool broken = false;
        std::optional<time_point> due_back = {};
    };

    void see_connection(const record& e, offences& out)
    {
        if (e.what == heard::connection_created) {
            connections_[e.connection].generation = generation_;
            if (!ready_)
                out.add(e, "opened by a paused pool");
            if (count(state::opening) > limits_.connecting)
                out.add(e, "more than maxConnecting at a time");
            if (count(state::opening) + count(state::idle) + count(state::out) > limits_.pool)
                out.add(e, "more than maxPoolSize");
            return;
        }
        const auto at = connections_.find(e.connection);
        if (at == connections_.end())
            return out.add(e, "was never created");
        connection& c = at->second;
        if (e.what == heard::connection_ready) {
            expect(e, c, state::opening, state::idle, out);
        } else if (e.what == heard::checked_out) {
            expect(e, c, state::idle, state::out, out);
            if (waiting_-- == 0)
                out.add(e, "there was no request");
            if (!ready_)
                out.add(e, "by a paused pool");
            if (c.generation != generation_)
                out.add(e, "is stale: its pool was cleared since it was made");
            if (c.broken)
                out.add(e, "its last command has broken it");
        } else if (e.what == heard::checked_in) {
            expect(e, c, state::out, state::idle, out);
            if (c.due_back && *c.due_back != e.when)
                out.add(e, "was held after its reply had come");
            c.due_back.reset();
        } else {
            if (c.now == state::closed || c.now == state::out)
                out.add(e, "closed twice, or in use");
            c.now = state::closed;
        }
    }

    static void expect(const record& e, connection& c, state before, state after, offences& out)
    {
        if (c.now != before)
            out.add(e, "out of turn");
        c.now = after;
    }

    std::size_t count(state which) const
    {
        return static_cast<std::size_t>(std::ranges::count_if(
            connections_, [which](const auto& one) { return one.second.now == which; }));
    }

    std::string server_;
    rule_limits limits_;
    bool created_ = false;
    bool ready_ = false;
    bool closed_ = false;
    std::size_t generation_ = 0;
    std::size_t waiting_ = 0;
    std::map<std::int64_t, connection> connections_;
};

class topology_rules {
public:
    void see(const record& e, offences& out)
    {
        if (closed_)
            out.add(e, "after the topology was closed");
        if (!open_ && e.what != heard::topology_opening)
            out.add(e, "before the topology was opened");
        if (e.what == heard::topology_opening) {
            open_ = true;
        } else if (e.what == heard::topology_closed) {
            closed_ = true;
        } else if (e.what == heard::topology_changed) {
            if (e.members_before != members_ || e.before != type_)
                out.add(e, "does not begin where the last change ended");
            members_ = e.members;
            type_ = e.after;
            if (std::ranges::count(members_, "RSPrimary", [](const auto& m) { return m.second; }) >
                1)
                out.add(e, "two primaries");
        } else if (e.what == heard::server_opening) {
            if (!servers_.emplace(e.server, "Unknown").second)
                out.add(e, "is open already");
        } else if (e.what == heard::server_closed) {
            if (servers_.erase(e.server) == 0)
                out.add(e, "is not open");
        } else {
            const auto at = servers_.find(e.server);
            if (at == servers_.end())
                return out.add(e, "is not open");
            // A member's hint at a possible primary is no change of that server.
            const std::string before = e.before == "PossiblePrimary" ? "Unknown" : e.before;
            if (at->second != before)
                out.add(e, "does not begin where the last change ended");
            at->second = e.after == "PossiblePrimary" ? "Unknown" : e.after;
        }
    }

    void finish(offences& out, bool closed) const
    {
        if (closed && (!closed_ || !servers_.empty()))
            out.add("the topology, or a server of it, was never closed");
    }

private:
    bool open_ = false;
    bool closed_ = false;
    std::string type_ = "Unknown";
    std::vector<std::pair<std::string, std::string>> members_;
    std::map<std::string, std::string> servers_;
};

/// All rules, and those between the groups.
class rule_book {
public:
    explicit rule_book(rule_limits limits) : limits_{limits} {}

    void see(const record& e, offences& out)
    {
        const bool is_topology = e.what >= heard::topology_opening &&
                                 e.what <= heard::server_changed;
        if (!is_topology && owes_clear_) {
            if (e.what != heard::pool_cleared || e.server != *owes_clear_)
                out.add(e, "comes between the loss of " + *owes_clear_ +
                               " and the clearing of its pool");
            owes_clear_.reset();
        }
        if (e.what <= heard::command_failed) {
            commands_.see(e, out);
            pool(e.server).see_command(e, out);
        } else if (e.what < heard::topology_opening) {
            pool(e.server).see(e, out);
        } else if (is_topology) {
            topology_.see(e, out);
            if (e.what == heard::server_changed && e.after == "Unknown" &&
                is_network_error(e.failure) && pool(e.server).is_ready())
                owes_clear_ = e.server;
        } else {
            see_heartbeat(e, out);
        }
    }

    void finish(offences& out) const
    {
        if (owes_clear_)
            out.add(*owes_clear_ + " was lost, and its pool never cleared");
        commands_.finish(out);
        for (const auto& [server, one] : pools_)
            one.finish(out);
        topology_.finish(out, limits_.closed);
        for (const auto& [server, running] : heartbeats_) {
            if (running && limits_.closed)
                out.add(server + ": a heartbeat never ended");
        }
    }

private:
    pool_rules& pool(const std::string& server)
    {
        return pools_.try_emplace(server, server, limits_).first->second;
    }

    void see_heartbeat(const record& e, offences& out)
    {
        bool& running = heartbeats_[e.server];
        const bool starts = e.what == heard::heartbeat_started;
        if (running == starts)
            out.add(e, "out of turn");
        running = starts;
    }

    rule_limits limits_;
    command_rules commands_;
    std::map<std::string, pool_rules> pools_;
    topology_rules topology_;
    std::map<std::string, bool> heartbeats_;
    std::optional<std::string> owes_clear_;
};

}  // namespace

std::vector<std::string> broken_rules(const std::vector<record>& received, rule_limits limits)
{
    offences out;
    rule_book rules{limits};
    for (const record& one : received)
        rules.see(one, out);
    rules.finish(out);
    return out.take();
}

std::string complaints(const recorder& of, time_point since, rule_limits limits)
{
    std::string text;
    for (const std::string& one : broken_rules(of.all(), limits))
        text += one + "\n";
    return text.empty() ? text : text + of.text(since);
}

}  // namespace holdfast::proof
