#pragma once
#include "lab/couchbase/mgmt/commands.hpp"

#include <optional>

namespace holdfast::lab::couchbase {

/// A line, taken apart.
struct command_call {
    cluster& on;
    std::vector<std::string> given = {};  // without the command itself
    std::vector<std::string> lines = {};  // of the answer

    /// The node that an argument names.
    result<std::size_t> node(std::size_t place) const;
    /// The same; "all" names all.
    result<std::vector<std::size_t>> nodes(std::size_t place) const;
    result<std::size_t> number(std::size_t place) const;
    /// "on" or "off".
    result<bool> flag(std::size_t place) const;
};

struct command_row {
    std::string_view name;
    std::string_view usage;  // of the arguments
    std::string_view help;
    std::size_t least;  // arguments
    std::size_t most;
    result<void> (*now)(command_call& call) = nullptr;
    runtime::awaitable<result<void>> (*later)(command_call& call) = nullptr;
    bool takes_rest = false;  // the last argument is the rest of the line
    /// Of a command that takes long: whether it can begin.
    result<void> (*check)(command_call& call) = nullptr;
};

error wrong_command(std::string why);

// The handlers, by what they are about.
result<void> command_bucket(command_call& call);
result<void> command_drop_bucket(command_call& call);
result<void> command_flush(command_call& call);
result<void> command_scope(command_call& call);
result<void> command_drop_scope(command_call& call);
result<void> command_collection(command_call& call);
result<void> command_drop_collection(command_call& call);
result<void> command_user(command_call& call);
result<void> command_drop_user(command_call& call);
result<void> command_expire_logins(command_call& call);
result<void> command_token(command_call& call);

result<void> command_add_node(command_call& call);
result<void> command_failover(command_call& call);
result<void> command_auto_failover(command_call& call);
result<void> check_rebalance(command_call& call);
result<void> check_graceful_failover(command_call& call);
result<void> check_remove(command_call& call);
result<void> check_crash(command_call& call);
runtime::awaitable<result<void>> command_rebalance(command_call& call);
runtime::awaitable<result<void>> command_graceful_failover(command_call& call);
runtime::awaitable<result<void>> command_remove(command_call& call);
runtime::awaitable<result<void>> command_crash(command_call& call);
result<void> command_restart(command_call& call);
result<void> command_freeze(command_call& call);
result<void> command_thaw(command_call& call);
result<void> command_close_port(command_call& call);
result<void> command_open_port(command_call& call);
result<void> command_hold_replication(command_call& call);
result<void> command_stall_disk(command_call& call);
result<void> command_status(command_call& call);

result<void> command_hold_config(command_call& call);
result<void> command_config_lag(command_call& call);
result<void> command_hold_manifest(command_call& call);
result<void> command_manifest_lag(command_call& call);
result<void> command_hold_index(command_call& call);
result<void> command_index_lag(command_call& call);
result<void> command_epoch(command_call& call);
result<void> command_publish(command_call& call);
result<void> command_service(command_call& call);
result<void> command_add_service(command_call& call);
result<void> command_remove_service(command_call& call);
result<void> command_capabilities(command_call& call);
result<void> command_external(command_call& call);
result<void> command_push(command_call& call);
result<void> command_refusals(command_call& call);
result<void> command_damage(command_call& call);
result<void> command_hosts(command_call& call);
result<void> command_tls(command_call& call);
result<void> command_tls_fault(command_call& call);
result<void> command_http_chunks(command_call& call);
result<void> command_error_map(command_call& call);
result<void> command_fault(command_call& call);
result<void> command_clear(command_call& call);
result<void> command_hits(command_call& call);

result<void> command_forget_plans(command_call& call);
result<void> command_require_index(command_call& call);

}  // namespace holdfast::lab::couchbase
