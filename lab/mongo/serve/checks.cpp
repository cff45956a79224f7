#include "lab/mongo/serve/checks.hpp"

#include "lab/mongo/document/server_code.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>

namespace holdfast::lab::mongo {

namespace {

std::string quoted(std::string_view before, std::string_view name, std::string_view after)
{
    std::string text{before};
    return text.append(name).append(after);
}

result<optime> write_note(node& on, std::string_view text)
{
    const bson::document note = bson::doc("msg", text);
    change nothing;
    nothing.op = 'n';
    nothing.o = note;
    return on.write(nothing);
}

}  // namespace

result<void> check_login(const node& on, const command& known, const request& what)
{
    if (known.admin_only && what.database != "admin")
        return refuse(server_code::unauthorized,
                      quoted("", what.name, " may only be run against the admin database."));
    if (!on.options.auth || !known.needs_login || what.client.internal ||
        !what.client.users.empty())
        return {};
    return refuse(server_code::unauthorized,
                  quoted("Command ", what.name, " requires authentication"));
}

result<void> check_role(const node& on, const command& known, const request& what)
{
    if (on.member->writable() || (!known.writes && !known.reads_data))
        return {};
    if (known.writes)
        return refuse(server_code::not_writable_primary, "not primary");
    if (what.client.internal)
        return {};  // who copies from a member knows what he does
    if (!on.member->readable())
        return refuse(server_code::not_primary_or_secondary,
                      "node is not in primary or recovering state");
    if (!what.secondary_ok && !known.on_secondaries)
        return refuse(server_code::not_primary_no_secondary_ok,
                      "not primary and secondaryOk=false");
    return {};
}

result<void> check_transaction_number(const node& on, const command& known, const request& what)
{
    if (what.in_transaction)
        return refuse(server_code::operation_not_supported_in_transaction,
                      "Transactions are not supported by this server yet");
    if (!what.txn_number)
        return {};
    if (!on.member->in_set())
        return refuse(server_code::illegal_operation,
                      "Transaction numbers are only allowed on a "
                      "replica set member or mongos");
    if (!known.retryable)
        return refuse(50768, quoted("txnNumber may only be provided for multi-document "
                                    "transactions and retryable write commands. "
                                    "autocommit:false was not provided, and ",
                                    what.name, " is not a retryable write command."));
    return {};
}

result<void> check_concerns(const node& on, const command& known, const request& what)
{
    if (what.concern.given && !known.takes_write_concern)
        return refuse(server_code::invalid_options, "Command does not support writeConcern");
    // A member of a set carries the command out, and then says what it cannot wait for.
    if (what.concern.given && !on.member->in_set()) {
        if (auto fine = on.member->accepts(what.concern); !fine)
            return fine;
    }
    if (what.reads.level == "snapshot") {
        constexpr std::array<std::string_view, 3> able{"find", "aggregate", "distinct"};
        if (std::ranges::find(able, what.name) == able.end())
            return refuse(server_code::invalid_options,
                          quoted("Command ", what.name,
                                 " does not support { readConcern: { level: \"snapshot\" } }"));
        if (!on.member->in_set())
            return refuse(123, "node needs to be a replica set member to use read concern");
    }
    if (what.reads.after_cluster_time && !on.member->in_set())
        return refuse(server_code::illegal_operation,
                      "Cannot specify afterClusterTime readConcern without being a replica set "
                      "member");
    if (what.reads.level == "linearizable" && !on.member->writable())
        return refuse(server_code::not_writable_primary,
                      "cannot satisfy linearizable read concern on non-primary node");
    return {};
}

bool reads_committed(const request& what) noexcept
{
    return what.reads.level == "majority" || what.reads.level == "snapshot" ||
           what.reads.level == "linearizable";
}

result<progress> check_read_time(node& on, request& what)
{
    // A member that has just started does not know yet how much of its data a majority has.
    if (reads_committed(what) && on.member->in_set() && on.data->last() != optime{} &&
        on.member->committed() == optime{})
        return progress::wait;
    if (what.reads.level == "snapshot" && !what.reads.at_cluster_time &&
        !what.reads.after_cluster_time)
        what.reads.at_cluster_time = on.member->committed().ts;
    // A member whose write a majority took after the request had arrived was the primary
    // then, and has all that was acknowledged before.
    const bool proves_itself = what.reads.level == "linearizable" && on.member->in_set();
    if (proves_itself && !what.reads.at_cluster_time) {
        auto written = write_note(on, "linearizable read");
        if (!written)
            return std::move(written).error();
        what.reads.at_cluster_time = written->ts;
    }
    const auto& wanted = what.reads.at_cluster_time ? what.reads.at_cluster_time
                                                    : what.reads.after_cluster_time;
    if (!wanted)
        return progress::done;
    if (what.reads.at_cluster_time && *wanted < on.data->history_from())
        return refuse(239, "Read timestamp " + std::to_string(wanted->seconds) +
                               " is older than the oldest available timestamp.");
    if (*wanted > on.cluster_time())
        return refuse(server_code::invalid_options,
                      "readConcern afterClusterTime value must not be greater than the current "
                      "clusterTime");
    if (on.data->last().ts < *wanted && on.member->writable()) {
        // A primary reaches every time that it knows of by one write.
        if (auto written = write_note(on, "catching up with the cluster's time"); !written)
            return std::move(written).error();
    }
    if (proves_itself && on.member->committed().ts < *wanted)
        return progress::wait;
    return on.data->last().ts < *wanted ? progress::wait : progress::done;
}

result<void> take_cluster_time(node& on, const request& what)
{
    if (!what.cluster_time || !on.member->in_set() || *what.cluster_time <= on.cluster_time())
        return {};
    const auto now =
        std::chrono::duration_cast<std::chrono::seconds>(on.wall_now().time_since_epoch()).count();
    constexpr std::int64_t year = 365 * 24 * 3600;
    if (std::int64_t{what.cluster_time->seconds} > now + year)
        return refuse(207, "New cluster time, " + std::to_string(what.cluster_time->seconds) +
                               ", is too far from this node's wall clock time, " +
                               std::to_string(now) + ".");
    on.saw_cluster_time(*what.cluster_time);
    return {};
}

}  // namespace holdfast::lab::mongo
