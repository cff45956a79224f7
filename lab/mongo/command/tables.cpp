// tidy: table of the commands and what has to be true before each runs
#include "lab/mongo/command/tables.hpp"

#include "lab/mongo/command/admin.hpp"
#include "lab/mongo/command/catalog_commands.hpp"
#include "lab/mongo/command/crud.hpp"
#include "lab/mongo/command/server_info.hpp"
#include "lab/mongo/command/sessions.hpp"
#include "lab/mongo/command/stats.hpp"

#include <array>

namespace holdfast::lab::mongo {

namespace {

constexpr command crud[] = {
    {.name = "insert",
     .run = run_insert,
     .writes = true,
     .takes_write_concern = true,
     .in_api_v1 = true,
     .retryable = true},
    {.name = "update",
     .run = run_update,
     .writes = true,
     .takes_write_concern = true,
     .in_api_v1 = true,
     .retryable = true},
    {.name = "delete",
     .run = run_delete,
     .writes = true,
     .takes_write_concern = true,
     .in_api_v1 = true,
     .retryable = true},
    {.name = "findAndModify",
     .run = run_find_and_modify,
     .writes = true,
     .takes_write_concern = true,
     .in_api_v1 = true,
     .retryable = true},
    {.name = "findandmodify",
     .run = run_find_and_modify,
     .writes = true,
     .takes_write_concern = true,
     .in_api_v1 = true,
     .retryable = true},
    {.name = "bulkWrite",
     .run = run_bulk_write,
     .writes = true,
     .admin_only = true,
     .takes_write_concern = true,
     .in_api_v1 = true,
     .retryable = true},
    {.name = "find", .run = run_find, .reads_data = true, .in_api_v1 = true},
    {.name = "aggregate",
     .run = run_aggregate,
     .reads_data = true,
     .takes_write_concern = true,
     .in_api_v1 = true},
    {.name = "count", .run = run_count, .reads_data = true, .in_api_v1 = true},
    {.name = "distinct", .run = run_distinct, .reads_data = true},
    {.name = "explain", .run = run_explain, .reads_data = true, .in_api_v1 = true},
    {.name = "mapReduce", .run = run_map_reduce, .reads_data = true},
    {.name = "mapreduce", .run = run_map_reduce, .reads_data = true},
};

constexpr command cursors[] = {
    {.name = "getMore", .run = run_get_more, .in_api_v1 = true},
    {.name = "killCursors", .run = run_kill_cursors, .in_api_v1 = true},
};

constexpr command catalog_table[] = {
    {.name = "create",
     .run = run_create,
     .writes = true,
     .takes_write_concern = true,
     .in_api_v1 = true},
    {.name = "collMod",
     .run = run_coll_mod,
     .writes = true,
     .takes_write_concern = true,
     .in_api_v1 = true},
    {.name = "drop",
     .run = run_drop,
     .writes = true,
     .takes_write_concern = true,
     .in_api_v1 = true},
    {.name = "dropDatabase",
     .run = run_drop_database,
     .writes = true,
     .takes_write_concern = true,
     .in_api_v1 = true},
    {.name = "renameCollection",
     .run = run_rename_collection,
     .writes = true,
     .admin_only = true,
     .takes_write_concern = true},
    {.name = "createIndexes",
     .run = run_create_indexes,
     .writes = true,
     .takes_write_concern = true,
     .in_api_v1 = true},
    {.name = "dropIndexes",
     .run = run_drop_indexes,
     .writes = true,
     .takes_write_concern = true,
     .in_api_v1 = true},
    {.name = "deleteIndexes", .run = run_drop_indexes, .writes = true, .takes_write_concern = true},
    {.name = "listDatabases",
     .run = run_list_databases,
     .reads_data = true,
     .admin_only = true,
     .in_api_v1 = true},
    {.name = "listCollections", .run = run_list_collections, .reads_data = true, .in_api_v1 = true},
    {.name = "listIndexes", .run = run_list_indexes, .reads_data = true, .in_api_v1 = true},
    {.name = "collStats", .run = run_coll_stats, .reads_data = true, .on_secondaries = true},
    {.name = "collstats", .run = run_coll_stats, .reads_data = true, .on_secondaries = true},
    {.name = "dbStats", .run = run_db_stats, .reads_data = true, .on_secondaries = true},
    {.name = "dbstats", .run = run_db_stats, .reads_data = true, .on_secondaries = true},
    {.name = "validate", .run = run_validate, .reads_data = true},
    {.name = "createSearchIndexes", .run = run_search_index, .writes = true},
    {.name = "updateSearchIndex", .run = run_search_index, .writes = true},
    {.name = "dropSearchIndex", .run = run_search_index, .writes = true},
    {.name = "listSearchIndexes", .run = run_search_index},
};

constexpr command session_table_commands[] = {
    {.name = "startSession", .run = run_start_session},
    {.name = "refreshSessions", .run = run_refresh_sessions, .in_api_v1 = true},
    {.name = "endSessions", .run = run_end_sessions, .in_api_v1 = true},
    {.name = "killSessions", .run = run_kill_sessions},
    {.name = "killAllSessions", .run = run_kill_all_sessions},
    {.name = "killAllSessionsByPattern", .run = run_kill_all_sessions},
    {.name = "commitTransaction",
     .run = run_transaction_end,
     .admin_only = true,
     .takes_write_concern = true,
     .in_api_v1 = true,
     .retryable = true},
    {.name = "abortTransaction",
     .run = run_transaction_end,
     .admin_only = true,
     .takes_write_concern = true,
     .in_api_v1 = true,
     .retryable = true},
};

constexpr command admin[] = {
    {.name = "ping", .run = run_ping, .needs_login = false, .in_api_v1 = true},
    {.name = "buildInfo", .run = run_build_info, .needs_login = false},
    {.name = "buildinfo", .run = run_build_info, .needs_login = false},
    {.name = "hostInfo", .run = run_host_info},
    {.name = "serverStatus", .run = run_server_status},
    {.name = "getCmdLineOpts", .run = run_get_cmd_line_opts, .admin_only = true},
    {.name = "getLog", .run = run_get_log, .admin_only = true},
    {.name = "getParameter", .run = run_get_parameter, .admin_only = true},
    {.name = "setParameter", .run = run_set_parameter, .admin_only = true},
    {.name = "configureFailPoint", .run = run_configure_fail_point, .admin_only = true},
    {.name = "whatsmyuri", .run = run_whats_my_uri, .needs_login = false},
    {.name = "connPoolStats", .run = run_conn_pool_stats},
    {.name = "features", .run = run_features, .needs_login = false},
    {.name = "listCommands", .run = run_list_commands, .needs_login = false},
    {.name = "fsync", .run = run_fsync, .admin_only = true},
    {.name = "currentOp", .run = run_current_op, .admin_only = true},
    {.name = "killOp", .run = run_kill_op, .admin_only = true},
    {.name = "logRotate", .run = run_log_rotate, .admin_only = true},
    {.name = "profile", .run = run_profile},
    {.name = "top", .run = run_top, .admin_only = true},
    {.name = "testVersion2", .run = run_test_version},
    {.name = "testDeprecation", .run = run_test_version, .in_api_v1 = true},
};

}  // namespace

std::span<const command> crud_commands()
{
    return crud;
}
std::span<const command> cursor_commands()
{
    return cursors;
}
std::span<const command> catalog_commands()
{
    return catalog_table;
}
std::span<const command> session_commands()
{
    return session_table_commands;
}
std::span<const command> admin_commands()
{
    return admin;
}

std::span<const std::span<const command>> all_commands()
{
    static const std::array<std::span<const command>, 6> all{hello_commands(),   crud_commands(),
                                                             cursor_commands(),  catalog_commands(),
                                                             session_commands(), admin_commands()};
    return all;
}

}  // namespace holdfast::lab::mongo
