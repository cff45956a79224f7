#include "lab/couchbase/mgmt/commands.hpp"

#include "holdfast/couchbase/errc.hpp"
#include "lab/couchbase/mgmt/command_table.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace holdfast::lab::couchbase {

namespace {

constexpr std::size_t any_number = 50;

constexpr command_row all_command_rows[] = {
    {"bucket", "B [REPLICAS]", "create a bucket", 1, 2, command_bucket},
    {"drop-bucket", "B", "drop it; its connections are closed", 1, 1, command_drop_bucket},
    {"flush", "B", "remove all its documents", 1, 1, command_flush},
    {"scope", "B S", "create a scope", 2, 2, command_scope},
    {"drop-scope", "B S", "drop it", 2, 2, command_drop_scope},
    {"collection", "B S C", "create a collection", 3, 3, command_collection},
    {"drop-collection", "B S C", "drop it", 3, 3, command_drop_collection},
    {"user", "U PASSWORD [B...]", "a new user or password, for some buckets or all", 2, any_number,
     command_user},
    {"drop-user", "U", "connections that are logged in live on", 1, 1, command_drop_user},
    {"token", "TOKEN [U]", "lets a user in by OAUTHBEARER; without U it ends", 1, 2, command_token},
    {"expire-logins", "U", "its connections get AUTH_STALE", 1, 1, command_expire_logins},
    {"add-node", "[kv,query,...]", "a new node, without data until a rebalance; gives its number",
     0, 1, command_add_node},
    {"rebalance", "[N...]", "spread the data, without the nodes that are to leave", 0, any_number,
     nullptr, command_rebalance, false, check_rebalance},
    {"remove", "N", "the same as rebalance N", 1, 1, nullptr, command_remove, false, check_remove},
    {"failover", "N", "hard: what was not replicated is lost", 1, 1, command_failover},
    {"graceful-failover", "N", "it hands over first", 1, 1, nullptr, command_graceful_failover,
     false, check_graceful_failover},
    {"auto-failover", "MS", "of nodes that are silent so long; 0: off", 1, 1,
     command_auto_failover},
    {"crash", "N [lost]", "its process ends; with lost, its data is gone", 1, 2, nullptr,
     command_crash, false, check_crash},
    {"restart", "N", "it comes back", 1, 1, command_restart},
    {"freeze", "N", "it takes requests and answers none", 1, 1, command_freeze},
    {"thaw", "N", "it goes on", 1, 1, command_thaw},
    {"close-port", "N [NAME]", "connections are refused, of a service or of all", 1, 2,
     command_close_port},
    {"open-port", "N", "and accepted again", 1, 1, command_open_port},
    {"hold-replication", "N on|off", "its changes do not leave it", 2, 2, command_hold_replication},
    {"stall-disk", "N on|off", "nothing is persisted", 2, 2, command_stall_disk},
    {"hold-config", "N on|off", "it does not learn of new configurations", 2, 2,
     command_hold_config},
    {"config-lag", "N MS", "it learns of them so much later", 2, 2, command_config_lag},
    {"hold-manifest", "N on|off", "it does not learn of scopes and collections", 2, 2,
     command_hold_manifest},
    {"manifest-lag", "N MS", "it learns of them so much later", 2, 2, command_manifest_lag},
    {"hold-index", "N|all on|off", "its indexes do not learn of changes", 2, 2, command_hold_index},
    {"index-lag", "N|all MS", "they learn of them so much later", 2, 2, command_index_lag},
    {"epoch", "", "a new epoch, in which the revision begins anew", 0, 0, command_epoch},
    {"publish", "", "a new revision of the same configuration", 0, 0, command_publish},
    {"add-service", "N|all NAME", "kv, query, analytics, search or views", 2, 2,
     command_add_service},
    {"remove-service", "N|all NAME", "its ports are closed", 2, 2, command_remove_service},
    {"capabilities", "NAME TEXT...|none", "what configurations show of a service", 2, any_number,
     command_capabilities},
    {"service", "N NAME PORT", "what its configuration says; 0: it does not have it", 3, 3,
     command_service},
    {"external", "N HOST|off", "its alternate address, with the same ports", 2, 2,
     command_external},
    {"push", "N|all on|off|brief|short|twice|older|then_older", "announced configurations", 2, 2,
     command_push},
    {"refusals", "N|all full|empty|stale|garbage|other_bucket", "what NOT_MY_VBUCKET carries", 2, 2,
     command_refusals},
    {"damage", "N|all none|no_extended_nodes|short_rows|index_out_of_range|...",
     "configurations of a broken server", 2, 2, command_damage},
    {"hosts", "N|all by_name|dialled|left_out", "what it calls itself and the others", 2, 2,
     command_hosts},
    {"tls", "N|all FILE [CA USER]", "another certificate; with CA, clients need one, and are USER",
     2, 4, command_tls},
    {"tls-fault", "N|all none|garbage|alert|cut|silent", "instead of a handshake", 2, 2,
     command_tls_fault},
    {"http-chunks", "N|all BYTES", "of replies; 0: they are whole", 2, 2, command_http_chunks},
    {"error-map", "N|all JSON|default", "what GET_ERROR_MAP gives", 2, 2, command_error_map,
     nullptr, true},
    {"fault", "NAME JSON", "what happens to some requests, see docs/lab.md", 2, 2, command_fault,
     nullptr, true},
    {"clear", "[NAME]", "ends that fault, or all", 0, 1, command_clear},
    {"forget-plans", "N|all", "its query service does not know prepared statements any more", 1, 1,
     command_forget_plans},
    {"require-index", "on|off", "whether queries that scan need an index", 1, 1,
     command_require_index},
    {"hits", "NAME", "how often it has happened", 1, 1, command_hits},
    {"status", "", "one line per node: number, address, connections, documents, services, state", 0,
     0, command_status},
};

std::string_view next_part(std::string_view& line)
{
    const std::size_t begin = std::min(line.find_first_not_of(" \t\r"), line.size());
    line.remove_prefix(begin);
    const std::size_t end = std::min(line.find_first_of(" \t\r"), line.size());
    const std::string_view part = line.substr(0, end);
    line.remove_prefix(end);
    return part;
}

const command_row* row_of(std::string_view name)
{
    const auto found = std::ranges::find(all_command_rows, name, &command_row::name);
    return found == std::ranges::end(all_command_rows) ? nullptr : &*found;
}

std::vector<std::string> arguments_in(const command_row& row, std::string_view line)
{
    std::vector<std::string> given;
    while (given.size() < row.most || !row.takes_rest) {
        if (row.takes_rest && given.size() + 1 == row.most) {
            const std::size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
            const std::size_t end = line.find_last_not_of(" \t\r");
            if (begin < line.size())
                given.emplace_back(line.substr(begin, end - begin + 1));
            break;
        }
        const std::string_view part = next_part(line);
        if (part.empty() || given.size() > row.most)
            break;
        given.emplace_back(part);
    }
    return given;
}

}  // namespace

error wrong_command(std::string why)
{
    return error{holdfast::couchbase::errc::invalid_argument, std::move(why)};
}

result<std::size_t> command_call::number(std::size_t place) const
{
    constexpr std::size_t largest = 1'000'000'000;
    const std::string& text = given.at(place);
    std::size_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [last, why] = std::from_chars(text.data(), end, value);
    if (why != std::errc{} || last != end || value > largest)
        return wrong_command("'" + text + "' is no number");
    return value;
}

result<std::size_t> command_call::node(std::size_t place) const
{
    auto value = number(place);
    if (value && *value >= on.nodes())
        return wrong_command("there is no node " + std::to_string(*value));
    return value;
}

result<std::vector<std::size_t>> command_call::nodes(std::size_t place) const
{
    std::vector<std::size_t> all;
    if (given.at(place) == "all") {
        for (std::size_t n = 0; n != on.nodes(); ++n)
            all.push_back(n);
        return all;
    }
    const auto one = node(place);
    if (!one)
        return one.error();
    all.push_back(*one);
    return all;
}

result<bool> command_call::flag(std::size_t place) const
{
    if (given.at(place) != "on" && given.at(place) != "off")
        return wrong_command("'" + given.at(place) + "' is neither on nor off");
    return given.at(place) == "on";
}

namespace {

/// The row of a line, with its arguments in `call`.
result<const command_row*> understand(std::string_view line, command_call& call)
{
    const command_row* const row = row_of(next_part(line));
    if (!row)
        return wrong_command("not understood; holdfast lab --help lists what is");
    call.given = arguments_in(*row, line);
    if (call.given.size() < row->least || call.given.size() > row->most)
        return wrong_command("usage: " + std::string{row->name} + " " + std::string{row->usage});
    return row;
}

}  // namespace

result<std::vector<std::string>> carry_out_now(cluster& on, std::string_view line)
{
    command_call call{on};
    const auto row = understand(line, call);
    if (!row)
        return row.error();
    if (!(*row)->now)
        return wrong_command("this takes too long here");
    if (auto outcome = (*row)->now(call); !outcome)
        return std::move(outcome).error();
    return std::move(call.lines);
}

runtime::awaitable<result<std::vector<std::string>>> carry_out(cluster& on, std::string line)
{
    command_call call{on};
    const auto row = understand(line, call);
    if (!row)
        co_return row.error();
    if ((*row)->now)
        co_return carry_out_now(on, line);
    if (auto can = (*row)->check(call); !can)
        co_return std::move(can).error();
    auto outcome = co_await (*row)->later(call);
    if (!outcome)
        co_return std::move(outcome).error();
    co_return std::move(call.lines);
}

result<void> check_command(cluster& on, std::string_view line)
{
    command_call call{on};
    const auto row = understand(line, call);
    if (!row)
        return row.error();
    return (*row)->check ? (*row)->check(call) : result<void>{};
}

bool is_long_command(std::string_view line)
{
    const command_row* const row = row_of(next_part(line));
    return row && row->later;
}

std::string command_help()
{
    constexpr std::size_t column = 32;
    std::string text;
    for (const command_row& one : all_command_rows) {
        std::string left = "  " + std::string{one.name};
        if (!one.usage.empty())
            left += " " + std::string{one.usage};
        if (left.size() < column)
            left.resize(column, ' ');
        else
            left += "\n" + std::string(column, ' ');
        text += left + std::string{one.help} + "\n";
    }
    return text;
}

}  // namespace holdfast::lab::couchbase
