#include "core/pool/errc.hpp"
#include "core/pool/pool.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

/// The events of a pool, and the corners of its rules.
namespace holdfast::core::pool_events_test {
namespace {

using namespace std::chrono_literals;
using state = connection_pool::state;
using text = std::vector<std::string>;

constexpr time_point start{1h};
const error trouble{pool_errc::cleared, "connection reset"};

std::string number(connection_id id)
{
    return std::to_string(id.value());
}
std::string took(duration d)
{
    return " " + std::to_string(std::chrono::duration_cast<std::chrono::seconds>(d).count()) + "s";
}

std::string token(const pool_events::created&)
{
    return "created";
}
std::string token(const pool_events::ready&)
{
    return "ready";
}
std::string token(const pool_events::cleared& e)
{
    return std::string{"cleared"} + (e.interrupts_in_use ? " interrupts" : "") +
           (e.partition ? " partition" : "");
}
std::string token(const pool_events::closed&)
{
    return "closed";
}
std::string token(const pool_events::connection_created& e)
{
    return "+" + number(e.id);
}
std::string token(const pool_events::connection_ready& e)
{
    return "ready " + number(e.id) + took(e.took);
}
std::string token(const pool_events::connection_closed& e)
{
    return "-" + number(e.id) + " " + std::string{name_of(e.reason)};
}
std::string token(const pool_events::checkout_started&)
{
    return "wanted";
}
std::string token(const pool_events::checkout_failed& e)
{
    return "refused " + std::string{name_of(e.reason)} + took(e.took);
}
std::string token(const pool_events::checked_out& e)
{
    return "out " + number(e.id) + took(e.took);
}
std::string token(const pool_events::checked_in& e)
{
    return "in " + number(e.id);
}

text received(connection_pool& pool)
{
    text all;
    for (const pool_event& e : pool.take_events())
        all.push_back(std::visit([](const auto& one) { return token(one); }, e));
    return all;
}

const error& cause_of(const std::vector<pool_effect>& effects, std::size_t at)
{
    return *std::get<refuse>(effects.at(at)).cause;
}

TEST(pool_events, connection_life_publishes_created_to_closed)
{
    connection_pool pool{{}};
    pool.mark_ready(start);
    pool.check_out(checkout_id{1}, start);
    pool.opened(connection_id{1}, std::nullopt, start + 2s);
    pool.check_in(connection_id{1}, false, start + 3s);
    EXPECT_EQ(received(pool),
              (text{"created", "ready", "wanted", "+1", "ready 1 2s", "out 1 2s", "in 1"}));
    ASSERT_EQ(pool.check_out_now(start + 4s), connection_id{1});
    pool.check_in(connection_id{1}, true, start + 5s);
    pool.close(start + 6s);
    EXPECT_EQ(received(pool), (text{"wanted", "out 1 0s", "in 1", "-1 error", "closed"}));
}

TEST(pool_events, no_events_are_kept_without_a_listener)
{
    connection_pool pool{{}, false};
    pool.mark_ready(start);
    pool.check_out(checkout_id{1}, start);
    EXPECT_TRUE(pool.take_events().empty());
}

TEST(pool_events, pool_cleared_precedes_check_out_failed_and_closed)
{
    connection_pool pool{{.max_size = 1}};
    pool.mark_ready(start);
    pool.check_out(checkout_id{1}, start);
    pool.opened(connection_id{1}, std::nullopt, start);
    pool.check_out(checkout_id{2}, start);
    received(pool);
    pool.clear(trouble, std::nullopt, true, start + 3s);
    EXPECT_EQ(received(pool), (text{"cleared interrupts", "refused connectionError 3s"}));
    pool.check_in(connection_id{1}, true, start + 3s);
    EXPECT_EQ(received(pool), (text{"in 1", "-1 stale"}));
}

TEST(pool_events, pool_cleared_is_published_once_until_ready)
{
    connection_pool pool{{}};
    received(pool);
    pool.clear(trouble, std::nullopt, false, start);
    EXPECT_EQ(received(pool), text{});
    EXPECT_EQ(pool.generation(), 1u);
    pool.mark_ready(start);
    pool.mark_ready(start);
    pool.clear(trouble, std::nullopt, false, start);
    pool.clear(trouble, std::nullopt, false, start);
    EXPECT_EQ(received(pool), (text{"ready", "cleared"}));
    EXPECT_EQ(pool.generation(), 3u);
    pool.clear(trouble, core::pool_partition{{1}}, false, start);
    EXPECT_EQ(received(pool), text{"cleared partition"});
    EXPECT_EQ(pool.generation(), 3u);
}

TEST(pool_events, check_out_started_precedes_closed_of_an_idle_connection)
{
    connection_pool pool{{.max_idle = 5s}};
    pool.mark_ready(start);
    pool.check_out(checkout_id{1}, start);
    pool.opened(connection_id{1}, std::nullopt, start);
    pool.check_in(connection_id{1}, false, start);
    received(pool);
    EXPECT_EQ(pool.check_out_now(start + 5s), std::nullopt);
    pool.check_out(checkout_id{2}, start + 5s);
    EXPECT_EQ(received(pool), (text{"wanted", "-1 idle", "+2"}));
}

TEST(pool_events, pool_closed_follows_the_closed_connections)
{
    connection_pool pool{{.max_size = 2}};
    pool.mark_ready(start);
    for (unsigned i = 1; i <= 3; ++i)
        pool.check_out(checkout_id{i}, start);
    pool.opened(connection_id{1}, std::nullopt, start);
    received(pool);
    pool.close(start + 1s);
    EXPECT_EQ(received(pool),
              (text{"refused poolClosed 1s", "refused poolClosed 1s", "-2 poolClosed", "closed"}));
    pool.close(start + 2s);
    EXPECT_EQ(received(pool), text{}) << "once is enough";
    pool.opened(connection_id{2}, std::nullopt, start + 2s);
    pool.open_failed(connection_id{2}, trouble, start + 2s);
    EXPECT_EQ(received(pool), text{}) << "what was closed while it opened is forgotten";
    pool.check_in(connection_id{1}, true, start + 2s);
    EXPECT_EQ(received(pool), (text{"in 1", "-1 poolClosed"}));
}

TEST(pool_closings, would_keep_is_false_for_stale_connections)
{
    connection_pool pool{{}};
    pool.mark_ready(start);
    EXPECT_FALSE(pool.would_keep(connection_id{1})) << "there is none";
    for (unsigned i = 1; i <= 2; ++i) {
        pool.check_out(checkout_id{i}, start);
        pool.opened(connection_id{static_cast<std::int64_t>(i)}, std::nullopt, start);
    }
    EXPECT_TRUE(pool.would_keep(connection_id{1}));
    pool.clear(trouble, std::nullopt, false, start);
    EXPECT_FALSE(pool.would_keep(connection_id{1})) << "stale";
    pool.mark_ready(start);
    pool.check_out(checkout_id{3}, start);
    pool.opened(connection_id{3}, std::nullopt, start);
    EXPECT_TRUE(pool.would_keep(connection_id{3}));
    pool.close(start);
    EXPECT_FALSE(pool.would_keep(connection_id{3}));
}

TEST(pool_closings, connection_closed_has_reason_and_error)
{
    connection_pool pool{{}};
    pool.mark_ready(start);
    pool.check_out(checkout_id{1}, start);
    pool.opened(connection_id{1}, std::nullopt, start);
    (void)pool.take_events();
    pool.check_in(connection_id{1}, true, start, &trouble);
    const auto events = pool.take_events();
    ASSERT_EQ(events.size(), 2u);
    const auto& closed = std::get<pool_events::connection_closed>(events[1]);
    ASSERT_TRUE(closed.cause);
    EXPECT_EQ(closed.cause->message(), trouble.message());
}

TEST(pool_refusals, check_out_failed_has_reason_and_error)
{
    connection_pool pool{{}};
    pool.check_out(checkout_id{1}, start);
    const auto early = pool.take_effects();
    EXPECT_EQ(cause_of(early, 0).message(), "the server has not been found alive yet");
    EXPECT_EQ(cause_of(early, 0).code(), pool_errc::cleared);
    pool.mark_ready(start);
    pool.check_out(checkout_id{2}, start);
    pool.take_effects();
    pool.cancel(checkout_id{2}, checkout_failure::timeout, start);
    EXPECT_EQ(cause_of(pool.take_effects(), 0).code(), pool_errc::timed_out);
    pool.check_out(checkout_id{3}, start);
    pool.cancel(checkout_id{3}, checkout_failure::connection_error, start);
    EXPECT_FALSE(std::get<refuse>(pool.take_effects().at(0)).cause) << "the caller knows why";
    pool.check_out(checkout_id{4}, start);
    pool.open_failed(connection_id{1}, trouble, start);
    EXPECT_EQ(cause_of(pool.take_effects(), 1).message(), "connection reset");
    pool.clear(trouble, std::nullopt, false, start);
    pool.check_out(checkout_id{5}, start);
    EXPECT_NE(cause_of(pool.take_effects(), 0).message().find("connection reset"),
              std::string::npos);
    pool.mark_ready(start);
    pool.clear(trouble, std::nullopt, false, start);
    pool.mark_ready(start);
    pool.close(start);
    pool.check_out(checkout_id{6}, start);
    EXPECT_EQ(cause_of(pool.take_effects(), 0).code(), pool_errc::closed);
}

TEST(pool_sizes, max_pool_size_0_is_unlimited)
{
    connection_pool pool{{.max_size = 0, .max_connecting = 500}};
    pool.mark_ready(start);
    for (unsigned i = 0; i < 300; ++i)
        pool.check_out(checkout_id{i}, start);
    EXPECT_EQ(pool.opening(), 300u);
}

TEST(pool_sizes, min_pool_size_is_filled_max_connecting_at_a_time)
{
    connection_pool pool{{.max_size = 3, .min_size = 9, .max_connecting = 2}};
    pool.maintain(start);
    EXPECT_EQ(pool.total(), 0u) << "not before the server was seen";
    pool.mark_ready(start);
    EXPECT_EQ(pool.opening(), 2u);
    pool.opened(connection_id{1}, std::nullopt, start);
    EXPECT_EQ(pool.opening(), 2u) << "the next one begins at once";
    pool.open_failed(connection_id{2}, trouble, start);
    EXPECT_EQ(pool.total(), 2u) << "after a failure it waits for the next upkeep";
    pool.maintain(start);
    EXPECT_EQ(pool.total(), 2u) << "and for the one that is under way";
    pool.opened(connection_id{3}, std::nullopt, start);
    EXPECT_EQ(pool.total(), 3u) << "and never more than the size";
}

TEST(pool_sizes, after_a_clear_connecting_starts_with_one_connection)
{
    connection_pool pool{{.max_size = 0, .max_connecting = 8}};
    pool.mark_ready(start);
    pool.clear(trouble, std::nullopt, false, start);
    pool.mark_ready(start);
    for (unsigned i = 1; i <= 40; ++i)
        pool.check_out(checkout_id{i}, start);
    std::vector<std::size_t> opening;  // before each success
    for (int next = 1; next <= 12; ++next) {
        opening.push_back(pool.opening());
        pool.opened(connection_id{next}, std::nullopt, start);
    }
    const std::vector<std::size_t> slowly{1, 1, 2, 4, 8, 8, 8, 8, 8, 8, 8, 8};
    EXPECT_EQ(opening, slowly);
    pool.open_failed(connection_id{13}, trouble, start);
    EXPECT_EQ(pool.opening(), 7u) << "what is under way goes on";
    for (int next = 14; next <= 19; ++next)
        pool.open_failed(connection_id{next}, trouble, start);
    EXPECT_EQ(pool.opening(), 1u) << "and one is left to see whether the server is back";
}

TEST(pool_sizes, background_connection_serves_a_waiting_checkout)
{
    connection_pool pool{{.min_size = 1, .max_connecting = 1}};
    pool.mark_ready(start);
    pool.check_out(checkout_id{1}, start);
    EXPECT_EQ(pool.opening(), 1u);
    pool.opened(connection_id{1}, std::nullopt, start);
    EXPECT_EQ(pool.in_use(), 1u);
    EXPECT_EQ(pool.waiting(), 0u);
}

TEST(pool_services, connection_has_the_generation_of_its_service_id)
{
    const core::pool_partition one{{1}};
    connection_pool pool{{}};
    pool.mark_ready(start);
    pool.clear(trouble, one, false, start);
    pool.check_out(checkout_id{1}, start);
    pool.opened(connection_id{1}, one, start);
    pool.check_in(connection_id{1}, false, start);
    EXPECT_EQ(pool.idle(), 1u) << "it knows of the clear";
    ASSERT_EQ(pool.check_out_now(start), connection_id{1});
    pool.clear(trouble, one, true, start);
    received(pool);
    pool.check_in(connection_id{1}, false, start);
    EXPECT_EQ(received(pool), (text{"in 1", "-1 stale"}));
}

TEST(pool_interruption, interrupt_in_use_connections_reaches_each_once)
{
    connection_pool pool{{}};
    pool.mark_ready(start);
    pool.check_out(checkout_id{1}, start);
    pool.opened(connection_id{1}, std::nullopt, start);
    pool.take_effects();
    pool.clear(trouble, std::nullopt, true, start);
    EXPECT_EQ(pool.take_effects().size(), 1u);
    pool.clear(trouble, std::nullopt, true, start);
    EXPECT_EQ(pool.take_effects().size(), 0u);
}

TEST(pool_reason_names, reasons_have_the_specified_names)
{
    EXPECT_EQ(name_of(close_reason::stale), "stale");
    EXPECT_EQ(name_of(close_reason::idle), "idle");
    EXPECT_EQ(name_of(close_reason::error), "error");
    EXPECT_EQ(name_of(close_reason::pool_closed), "poolClosed");
    EXPECT_EQ(name_of(checkout_failure::pool_closed), "poolClosed");
    EXPECT_EQ(name_of(checkout_failure::timeout), "timeout");
    EXPECT_EQ(name_of(checkout_failure::connection_error), "connectionError");
    const error_code codes[] = {pool_errc::closed, pool_errc::cleared, pool_errc::timed_out};
    for (const error_code& code : codes) {
        EXPECT_STREQ(code.category().name(), "pool");
        EXPECT_EQ(code.message().find("unknown"), std::string::npos);
    }
    EXPECT_EQ(error_code(static_cast<pool_errc>(99)).message(), "unknown pool error");
}

TEST(pool_checkout, timeout_names_the_numbers_of_the_pool)
{
    connection_pool pool{{.max_size = 1}};
    pool.mark_ready(start);
    pool.check_out(checkout_id{1}, start);
    pool.opened(connection_id{1}, std::nullopt, start);
    for (const std::uint64_t id : {2U, 3U, 4U})
        pool.check_out(checkout_id{id}, start);
    pool.take_effects();
    pool.cancel(checkout_id{2}, checkout_failure::timeout, start);
    const error why = cause_of(pool.take_effects(), 0);
    EXPECT_EQ(why.message(), "Timed out while checking out a connection from connection pool");
    EXPECT_EQ(why.context("pool"),
              "1 connections are in use, 0 are being opened, 2 others wait; maxPoolSize 1");
}

TEST(pool_pinning, timed_out_checkout_counts_pinned_connections_by_reason)
{
    constexpr std::string_view reasons[] = {"streams", "locks"};
    connection_pool pool{{.max_size = 3, .pin_reasons = reasons}};
    pool.mark_ready(start);
    for (unsigned i = 1; i <= 3; ++i) {
        pool.check_out(checkout_id{i}, start);
        pool.opened(connection_id{i}, std::nullopt, start);
    }
    pool.pin(pin_reason{0});
    pool.pin(pin_reason{0});
    pool.pin(pin_reason{1});
    pool.unpin(pin_reason{0});
    pool.check_out(checkout_id{4}, start);
    pool.take_effects();
    pool.cancel(checkout_id{4}, checkout_failure::timeout, start);
    EXPECT_EQ(cause_of(pool.take_effects(), 0).message(),
              "Timed out while checking out a connection from connection pool. maxPoolSize: 3, "
              "connections in use by streams: 1, connections in use by locks: 1, connections in "
              "use by other operations: 1");
}

}  // namespace
}  // namespace holdfast::core::pool_events_test
