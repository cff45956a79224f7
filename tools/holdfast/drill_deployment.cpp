#include "drill_deployment.hpp"

#include "core/mongo/error/errc.hpp"
#include "holdfast/mongo/error.hpp"
#include "runtime/errc.hpp"
#include "tools/holdfast/drill/couchbase/connector.hpp"
#include "tools/holdfast/drill/couchbase/lab_target.hpp"
#include "tools/holdfast/drill/mongo/connector.hpp"
#include "tools/holdfast/drill/mongo/lab_target.hpp"

#include <chrono>
#include <cstdlib>
#include <string>
#include <utility>

namespace holdfast::tool {

using namespace std::chrono_literals;

namespace {

constexpr auto timeout = 15s;

/// Different for each drill.
std::string stamp()
{
    return std::to_string(std::chrono::system_clock::now().time_since_epoch() / 1ms);
}

drill::workload_options work_of(const drill_options& options)
{
    drill::workload_options work;
    work.clients = options.clients;
    work.seed = options.seed;
    work.repeats_by_itself = options.naive_retry;
    work.bound = timeout + 1s;  // a busy machine is no broken promise
    return work;
}

result<drill_deployment> open_mongo(const drill_options& options)
{
    drill_deployment made;
    drill::mongo_connector_options connecting;
    if (options.uri) {
        connecting.uri = *options.uri;
    } else {
        lab::mongo_options deployment;
        deployment.members = options.members;
        deployment.port = options.port;
        deployment.remembers_retryable_writes = !options.forgetful;
        auto started = drill::mongo_lab_target::start(std::move(deployment));
        if (!started)
            return std::move(started).error();
        connecting.uri = (*started)->uri();
        made.servers = *std::move(started);
    }
    connecting.retryable_writes = !options.no_retryable_writes;
    connecting.client.collection = "workload_" + stamp();
    connecting.client.timeout = timeout;
    auto clients = drill::workload::open(
        std::make_unique<drill::mongo_connector>(std::move(connecting)), work_of(options));
    if (!clients)
        return std::move(clients).error();
    made.clients = *std::move(clients);
    return made;
}

std::string password_of(const drill_options& options)
{
    if (!options.password.empty())
        return options.password;
    const char* const from_environment = std::getenv("HOLDFAST_PASSWORD");
    return from_environment ? from_environment : "";
}

result<drill_deployment> open_couchbase(const drill_options& options)
{
    drill_deployment made;
    drill::couchbase_connector_options connecting;
    if (options.uri) {
        connecting.uri = *options.uri;
        connecting.user = options.user;
        connecting.password = password_of(options);
        connecting.client.bucket = options.bucket;
    } else {
        auto started = drill::couchbase_lab_target::start(
            {.nodes = options.members, .port = options.port});
        if (!started)
            return std::move(started).error();
        connecting.uri = (*started)->uri();
        connecting.user = drill::couchbase_lab_target::user;
        connecting.password = drill::couchbase_lab_target::password;
        connecting.client.bucket = drill::couchbase_lab_target::bucket;
        made.servers = *std::move(started);
    }
    connecting.client.prefix = "holdfast_drill " + stamp() + ' ';
    connecting.client.timeout = timeout;
    drill::workload_options work = work_of(options);
    work.mix = drill::couchbase_mix;
    auto clients = drill::workload::open(
        std::make_unique<drill::couchbase_connector>(std::move(connecting)), work);
    if (!clients)
        return std::move(clients).error();
    made.clients = *std::move(clients);
    return made;
}

}  // namespace

drill::deployment_kind kind_of(const drill_options& options) noexcept
{
    return options.couchbase ? drill::deployment_kind::couchbase : drill::deployment_kind::mongo;
}

result<drill_deployment> open_deployment(const drill_options& options)
{
    return options.couchbase ? open_couchbase(options) : open_mongo(options);
}

bool names_no_server(const error& cause)
{
    const error_code nowhere = runtime::errc::name_not_found;
    return cause.code() == nowhere || cause.context("cause") == nowhere.message() ||
           cause.code() == make_error_code(couchbase::errc::unknown_host) ||
           cause.code() == make_error_code(core::mongo::errc::invalid_dns_answer) ||
           (cause.code().category() != couchbase::category() &&
            mongo::kind_of(cause) == mongo::error_kind::client);
}

}  // namespace holdfast::tool
