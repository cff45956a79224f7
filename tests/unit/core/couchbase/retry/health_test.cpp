#include "core/couchbase/retry/health.hpp"

#include "core/couchbase/retry/dispatch.hpp"
#include "support/verifies.hpp"

#include <chrono>

namespace holdfast::core::couchbase::health_test {
namespace {

using namespace std::chrono_literals;

constexpr tracker_id one{1}, two{2}, stranger{9};

std::optional<retry_reason> reason(const health& facts,
                                   service_type service = service_type::key_value,
                                   std::string_view bucket = "beer")
{
    const auto fact = facts.terminal_fact(service, bucket);
    return fact ? std::optional{fact->reason} : std::nullopt;
}

health tracking()
{
    health facts;
    facts.track(one);
    facts.track(two);
    return facts;
}

constexpr service_type all_services[] = {service_type::key_value, service_type::query,
                                         service_type::analytics, service_type::search,
                                         service_type::views,     service_type::management};

TEST(health, sasl_auth_error_blocks_all_services)
{
    VERIFIES("CR-031");
    for (const int status : {0x20, 0x02}) {  // as servers send it, and as the RFC prints it
        health facts = tracking();
        EXPECT_EQ(reason(facts), std::nullopt);
        facts.sasl_answered(one, static_cast<kv_status>(status));
        for (const service_type service : all_services)
            EXPECT_EQ(reason(facts, service, ""), retry_reason::authentication_error);
    }
}

TEST(health, auth_error_is_cleared_by_success_on_the_same_connection)
{
    VERIFIES("CR-032");
    health facts = tracking();
    facts.sasl_answered(one, kv_status::auth_error);
    facts.sasl_answered(two, kv_status::success);  // another one
    EXPECT_EQ(reason(facts), retry_reason::authentication_error);
    facts.track(one);  // its socket is opened again: nothing is known yet
    EXPECT_EQ(reason(facts), retry_reason::authentication_error);
    facts.sasl_answered(one, kv_status::auth_continue);
    EXPECT_EQ(reason(facts), retry_reason::authentication_error);
    facts.sasl_answered(one, kv_status::success);
    EXPECT_EQ(reason(facts), std::nullopt);

    for (int status = 0; status <= 0xffff; ++status)
        if (status != 0x20 && status != 0x02)
            facts.sasl_answered(one, static_cast<kv_status>(status));
    EXPECT_EQ(reason(facts), std::nullopt);
}

TEST(health, tls_error_blocks_all_services_until_a_handshake_passes)
{
    VERIFIES("CR-033");
    health facts = tracking();
    facts.tls_failed(one, "certificate verify failed");
    for (const service_type service : all_services)
        EXPECT_EQ(reason(facts, service, ""), retry_reason::tls_error);
    EXPECT_NE(facts.terminal_fact(service_type::query, "")->detail.find("verify failed"),
              std::string::npos);
    facts.tls_passed(two);
    EXPECT_EQ(reason(facts), retry_reason::tls_error);
    facts.tls_passed(one);
    EXPECT_EQ(reason(facts), std::nullopt);
}

TEST(health, untracked_connections_are_ignored)
{
    VERIFIES("CR-034");
    health facts = tracking();
    facts.sasl_answered(stranger, kv_status::auth_error);
    facts.tls_failed(stranger, "handshake failure");
    facts.tls_passed(stranger);
    EXPECT_EQ(reason(facts), std::nullopt);

    facts.sasl_answered(one, kv_status::auth_error);
    facts.tls_failed(two, "handshake failure");
    facts.forget(one);
    EXPECT_EQ(reason(facts), retry_reason::tls_error);
    facts.forget(two);
    EXPECT_EQ(reason(facts), std::nullopt);
}

TEST(health, denied_bucket_blocks_only_its_key_value_requests)
{
    VERIFIES("CR-035");
    VERIFIES("CR-038");
    health facts = tracking();
    facts.select_bucket_answered("beer", kv_status::not_found);  // a node without data
    facts.select_bucket_answered("beer", kv_status::not_supported);
    EXPECT_EQ(reason(facts), std::nullopt);
    facts.select_bucket_answered("beer", kv_status::no_access);
    facts.select_bucket_answered("beer", kv_status::not_found);
    EXPECT_EQ(reason(facts), retry_reason::bucket_access_error);
    EXPECT_EQ(reason(facts, service_type::key_value, "wine"), std::nullopt);
    for (const service_type service : all_services)
        EXPECT_EQ(reason(facts, service).has_value(), service == service_type::key_value);
    facts.select_bucket_answered("wine", kv_status::success);
    EXPECT_EQ(reason(facts), retry_reason::bucket_access_error);
    facts.select_bucket_answered("beer", kv_status::success);
    EXPECT_EQ(reason(facts), std::nullopt);
    facts.select_bucket_answered("beer", kv_status::no_access);
    facts.bucket_closed("beer");
    EXPECT_EQ(reason(facts), std::nullopt);
}

TEST(health, terminal_facts_take_precedence_in_rfc_order)
{
    VERIFIES("CR-045");
    health facts = tracking();
    facts.manifest_fetched("beer");
    const request_target target{service_type::key_value, "beer", "belgian", "dubbel"};
    const auto found = [&](obstacle what) {
        return dispatch_failed(what, target, facts, {}, {}).reason;
    };
    EXPECT_EQ(found(obstacle::collection_not_in_map), retry_reason::collection_not_found);
    EXPECT_EQ(found(obstacle::scope_not_in_map), retry_reason::scope_not_found);
    facts.select_bucket_answered("beer", kv_status::no_access);
    EXPECT_EQ(found(obstacle::scope_not_in_map), retry_reason::bucket_access_error);
    facts.tls_failed(one, "x");
    EXPECT_EQ(found(obstacle::scope_not_in_map), retry_reason::tls_error);
    facts.sasl_answered(two, kv_status::auth_error);
    EXPECT_EQ(found(obstacle::scope_not_in_map), retry_reason::authentication_error);
}

TEST(health, mtls_alert_and_stale_jwt_are_terminal_facts)
{
    VERIFIES("CR-046");
    health facts = tracking();
    facts.tls_failed(one, "tlsv13 alert certificate required");  // mTLS
    EXPECT_EQ(reason(facts), retry_reason::tls_error);
    facts.tls_passed(one);
    facts.sasl_answered(one, kv_status::auth_stale);  // a JWT has expired: routine
    EXPECT_EQ(reason(facts), std::nullopt);
    facts.sasl_answered(one, kv_status::auth_error);  // a JWT was rejected
    EXPECT_EQ(reason(facts), retry_reason::authentication_error);
}

TEST(dispatch, scope_or_collection_is_missing_only_from_a_fetched_manifest)
{
    struct row { const char* id; obstacle what; retry_reason reason; errc code; const char* says; };
    const row table[] = {
        {"CR-036", obstacle::scope_not_in_map, retry_reason::scope_not_found, errc::scope_not_found,
         "scope \"belgian\" is not in bucket \"beer\""},
        {"CR-037", obstacle::collection_not_in_map, retry_reason::collection_not_found,
         errc::collection_not_found,
         "collection \"dubbel\" of scope \"belgian\" is not in bucket \"beer\""},
    };
    const request_target target{service_type::key_value, "beer", "belgian", "dubbel"};
    for (const row& r : table) {
        VERIFIES_ROW(r.id);
        health facts;
        facts.manifest_fetched("wine");
        const auto early = dispatch_failed(r.what, target, facts, {}, {});
        EXPECT_EQ(early.reason, retry_reason::kv_collection_outdated);
        EXPECT_EQ(early.cause.message(), "no collection map yet of bucket \"beer\"");
        facts.manifest_fetched("beer");
        const auto late = dispatch_failed(r.what, target, facts, {}, {});
        EXPECT_EQ(late.reason, r.reason);
        EXPECT_EQ(late.cause.code(), r.code);
        EXPECT_EQ(late.cause.message(), r.says);
        EXPECT_EQ(late.attempt.phase, dispatch_phase::not_sent);
        facts.bucket_closed("beer");
        EXPECT_FALSE(facts.has_manifest("beer"));
    }
}

TEST(dispatch, every_obstacle_has_its_retry_reason)
{
    VERIFIES("CR-009");
    struct row { const char* id; target_view target; obstacle what; retry_reason reason; };
    circuit_breaker tripped{{.volume = 1}};
    tripped.failed(time_point{}, time_point{});
    const row table[] = {
        {"CR-049",
         {.connected = false},
         obstacle::all_sockets_down,
         retry_reason::socket_not_available},
        {"CR-049",
         {.writable = false},
         obstacle::socket_not_writable,
         retry_reason::socket_not_available},
        {"CR-050",
         {.service_present = false},
         obstacle::service_not_present,
         retry_reason::service_not_available},
        {"CR-051", {.node_known = false}, obstacle::node_gone, retry_reason::node_not_available},
        {"CR-056",
         {.breaker = &tripped},
         obstacle::circuit_open,
         retry_reason::circuit_breaker_open},
    };
    for (const row& r : table) {
        SCOPED_TRACE(name_of(r.reason));
        VERIFIES_ROW(r.id);
        EXPECT_EQ(find_obstacle(r.target, time_point{1ms}), r.what);
        const auto failed = dispatch_failed(r.what, {}, {}, endpoint{"node:11210"},
                                            time_point{5ms});
        EXPECT_EQ(failed.reason, r.reason);
        EXPECT_EQ(failed.attempt.phase, dispatch_phase::not_sent);
        EXPECT_EQ(failed.attempt.server.value(), "node:11210");
        EXPECT_EQ(failed.attempt.started, time_point{5ms});
        EXPECT_EQ(failed.cause.code(), error_for(r.reason, "").code());
        EXPECT_FALSE(failed.cause.message().empty());
    }
    EXPECT_EQ(find_obstacle({}, {}), std::nullopt);
    EXPECT_EQ(find_obstacle({.breaker = &tripped}, time_point{5s}), std::nullopt);  // a trial
    const circuit_breaker closed;
    EXPECT_EQ(find_obstacle({.breaker = &closed}, {}), std::nullopt);
    EXPECT_EQ(dispatch_failed(static_cast<obstacle>(99), {}, {}, {}, {}).reason,
              retry_reason::unknown);
}

TEST(dispatch, connection_lost_is_socket_closed_while_in_flight)
{
    const auto lost = connection_lost(endpoint{"a:1"}, time_point{2ms}, "reset by peer");
    EXPECT_EQ(lost.reason, retry_reason::socket_closed_while_in_flight);
    EXPECT_EQ(lost.attempt.phase, dispatch_phase::in_flight);
    EXPECT_EQ(lost.attempt.started, time_point{2ms});
    EXPECT_EQ(lost.cause.code(), errc::request_canceled);
    EXPECT_NE(lost.cause.message().find("reset by peer"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::core::couchbase::health_test
