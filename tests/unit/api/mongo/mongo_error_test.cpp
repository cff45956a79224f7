#include "core/mongo/error/errc.hpp"
#include "core/mongo/error/server_error.hpp"
#include "core/mongo/retry/applied.hpp"
#include "core/pool/errc.hpp"
#include "holdfast/bson/errc.hpp"
#include "holdfast/mongo/error.hpp"
#include "runtime/errc.hpp"

#include <boost/asio/error.hpp>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace holdfast::mongo_error_test {
namespace {

using bson::doc;
using core::mongo::errc;
using enum mongo::error_kind;
using labels = std::vector<std::string>;

error_code server_says(int code)
{
    return error_code{code, core::mongo::server_category()};
}

error with(mongo::write_failure what, error_code code = server_says(11000))
{
    return error{code, "failed"}.with_detail(
        std::make_shared<const mongo::write_failure>(std::move(what)));
}

mongo::write_failure single(std::vector<mongo::write_error> errors,
                            std::vector<mongo::write_concern_error> concern = {})
{
    mongo::write_failure made;
    made.write_errors = std::move(errors);
    made.write_concern_errors = std::move(concern);
    made.reply = doc("ok", 1, "n", 0);
    return made;
}

TEST(mongo_error, kind_of_follows_the_error_code)
{
    struct row {
        error_code code;
        mongo::error_kind kind;
    };
    const row table[] = {
        {server_says(13), server},
        {boost::asio::error::eof, network},
        {boost::asio::error::connection_reset, network},
        {boost::asio::error::timed_out, network},  // socketTimeoutMS: of one connection
        {boost::asio::error::operation_aborted, cancelled},
        {runtime::errc::connect_failed, network},
        {runtime::errc::connect_timed_out, network},
        {runtime::errc::certificate_rejected, network},
        {runtime::errc::cancelled, cancelled},
        {runtime::errc::invalid_tls_options, client},
        {core::pool_errc::cleared, network},
        {core::pool_errc::timed_out, timeout},
        {errc::malformed_message, network},
        {errc::hello_failed, network},
        {errc::primary_deposed, network},
        {errc::authentication_failed, authentication},
        {errc::untrusted_server, authentication},
        {errc::invalid_connection_string, client},
        {errc::invalid_option, client},
        {errc::command_failed, client},
        {errc::no_server, selection},
        {errc::incompatible_server, selection},
        {errc::operation_timed_out, timeout},
        {bson::errc::invalid_key, client},
    };
    for (const row& one : table)
        EXPECT_EQ(mongo::kind_of(error{one.code, "x"}), one.kind) << one.code.message();
}

TEST(mongo_error, message_too_large_is_client_kind_unless_it_was_a_reply)
{
    EXPECT_EQ(mongo::kind_of(error{errc::message_too_large, "x"}), client);
    attempt sent;
    sent.phase = dispatch_phase::in_flight;
    EXPECT_EQ(mongo::kind_of(error{errc::message_too_large, "x"}.with_history({sent})), network);
}

TEST(mongo_error, kind_distinguishes_write_errors_from_command_errors)
{
    EXPECT_EQ(mongo::kind_of(with(single({{.code = 11000}}))), write);
    EXPECT_EQ(mongo::kind_of(with(mongo::write_failure{})), bulk_write);
    // Not even the connection's end changes what a bulk write is.
    EXPECT_EQ(mongo::kind_of(with(mongo::write_failure{}, boost::asio::error::eof)), bulk_write);

    const auto unsafe = doc("ok", 1, "writeConcernError", doc("code", 64, "errmsg", "late"));
    EXPECT_EQ(mongo::kind_of(core::mongo::make_server_error(unsafe.view())), write);
    const auto refused = doc("ok", 0, "code", 13, "errmsg", "no");
    EXPECT_EQ(mongo::kind_of(core::mongo::make_server_error(refused.view())), server);
}

TEST(mongo_error, name_of_is_distinct_for_every_kind)
{
    std::set<std::string_view> names;
    for (const auto kind : {network, server, write, bulk_write, selection, timeout, authentication,
                            cancelled, client})
        names.insert(mongo::name_of(kind));
    EXPECT_EQ(names.size(), 9U);
    EXPECT_EQ(mongo::name_of(bulk_write), "bulk write");
}

TEST(mongo_error, server_code_is_read_from_commands_and_write_errors)
{
    const auto reply = doc("ok", 0, "code", 11000, "codeName", "DuplicateKey", "errmsg", "E11000");
    const error refused = core::mongo::make_server_error(reply.view());
    EXPECT_EQ(mongo::server_code(refused), 11000);
    EXPECT_EQ(mongo::server_code_name(refused), "DuplicateKey");
    ASSERT_NE(mongo::server_failure_of(refused), nullptr);
    EXPECT_EQ(mongo::server_failure_of(refused)->reply, reply);
    EXPECT_EQ(mongo::write_failure_of(refused), nullptr);

    const error login = error{errc::authentication_failed, "x"}.with_context("code", "18");
    EXPECT_EQ(mongo::server_code(login), 18);

    EXPECT_EQ(mongo::server_code(error{boost::asio::error::eof, "x"}), std::nullopt);
    EXPECT_EQ(mongo::server_code_name(error{boost::asio::error::eof, "x"}), "");

    mongo::write_failure bulk;
    bulk.write_concern_errors = {{.code = 64, .code_name = "WriteConcernFailed"}};
    const error unsafe = with(bulk, errc::operation_timed_out);
    EXPECT_EQ(mongo::server_code(unsafe), 64);
    EXPECT_EQ(mongo::server_code_name(unsafe), "WriteConcernFailed");

    mongo::write_failure ended;
    ended.ended_by = refused;
    EXPECT_EQ(mongo::server_code(with(ended, errc::operation_timed_out)), 11000);
    EXPECT_EQ(mongo::server_code_name(with(ended, errc::operation_timed_out)), "DuplicateKey");
}

attempt tried(dispatch_phase phase, error_code cause, labels with = {})
{
    attempt one;
    one.phase = phase;
    one.cause = cause;
    one.labels = std::move(with);
    return one;
}

/// An error after these attempts, recorded as the client does it.
error after(error_code code, std::vector<attempt> attempts)
{
    bool possible = false;
    for (attempt& one : attempts)
        one.possibly_applied = possible = core::mongo::possibly_applied(possible, one);
    return error{code, "x"}.with_history(std::move(attempts));
}

TEST(mongo_error, in_flight_attempt_means_may_have_been_applied)
{
    using enum dispatch_phase;
    const error_code broke = boost::asio::error::eof;
    const auto lost = tried(in_flight, broke, {"RetryableWriteError"});
    const auto unsent = tried(not_sent, runtime::errc::connect_failed);
    const auto shed = tried(answered, server_says(462),
                            {"SystemOverloadedError", "RetryableError"});
    const auto nothing_done = tried(answered, server_says(10107),
                                    {"RetryableWriteError", "NoWritesPerformed"});
    struct row {
        const char* why;
        std::vector<attempt> history;
        bool in_doubt;
    };
    const row table[] = {
        {"never sent", {unsent}, false},
        {"sent, and never answered", {lost}, true},
        {"the retry found no server", {lost, unsent}, true},
        {"the retry was lost, too", {lost, lost}, true},
        {"lost before, not sent after", {unsent, lost, unsent}, true},
        {"shed by a busy server", {shed, shed, shed}, false},
        {"shed after one was lost", {lost, shed}, true},
        {"only one of the labels of load shedding",
         {tried(answered, server_says(91), {"SystemOverloadedError"})},
         true},
        {"the server says that it wrote nothing", {nothing_done}, false},
        {"... of this attempt, not of the one before", {lost, nothing_done}, true},
        {"the server lost its role, perhaps in the middle",
         {tried(answered, server_says(11602), {"RetryableWriteError"})},
         true},
        {"the same from a server without labels", {tried(answered, server_says(189))}, true},
        {"a label that the list of codes does not know of",
         {tried(answered, server_says(424242), {"RetryableWriteError"})},
         true},
        {"the router lost the shard", {tried(answered, server_says(6))}, true},
        {"interrupted by maxTimeMS", {tried(answered, server_says(50))}, true},
        {"not allowed", {tried(answered, server_says(13))}, false},
        {"not allowed says nothing of the attempt before",
         {lost, tried(answered, server_says(13))},
         true},
        {"a duplicate of another client's document",
         {lost, tried(answered, server_says(11000))},
         false},
        {"... which a later attempt does not change back",
         {lost, tried(answered, server_says(11000)), unsent},
         false},
    };
    for (const row& one : table) {
        const error why = after(one.history.back().cause, one.history);
        EXPECT_EQ(mongo::may_have_been_applied(why), one.in_doubt) << one.why;
    }
    // Time that ran out, or a cancellation, does not hide what was sent.
    EXPECT_TRUE(mongo::may_have_been_applied(after(errc::operation_timed_out, {lost})));
    EXPECT_TRUE(mongo::may_have_been_applied(after(runtime::errc::cancelled, {lost})));
    EXPECT_FALSE(mongo::may_have_been_applied(after(runtime::errc::cancelled, {unsent})));
}

TEST(mongo_error, may_have_been_applied_without_history_follows_the_code)
{
    EXPECT_FALSE(mongo::may_have_been_applied(error{errc::no_server, "x"}));
    EXPECT_FALSE(mongo::may_have_been_applied(error{errc::invalid_option, "x"}));
    EXPECT_FALSE(mongo::may_have_been_applied(error{errc::hello_failed, "x"}));
    EXPECT_FALSE(mongo::may_have_been_applied(error{core::pool_errc::cleared, "x"}));
    EXPECT_FALSE(mongo::may_have_been_applied(error{runtime::errc::connect_failed, "x"}));
    EXPECT_TRUE(mongo::may_have_been_applied(error{boost::asio::error::eof, "x"}));
    EXPECT_FALSE(mongo::may_have_been_applied(error{server_says(13), "x"}));
    EXPECT_TRUE(mongo::may_have_been_applied(error{server_says(91), "x"}));
}

TEST(mongo_error, write_error_is_not_applied_write_concern_error_is)
{
    EXPECT_FALSE(mongo::may_have_been_applied(with(single({{.code = 11000}}))));
    EXPECT_TRUE(mongo::may_have_been_applied(with(single({}, {{.code = 64}}))));
    EXPECT_FALSE(mongo::may_have_been_applied(with(single({{.code = 11000}}, {{.code = 64}}))));

    const auto unsafe = doc("ok", 1, "writeConcernError", doc("code", 64, "errmsg", "late"));
    EXPECT_TRUE(mongo::may_have_been_applied(core::mongo::make_server_error(unsafe.view())));

    mongo::write_failure bulk;
    bulk.write_errors = {{.index = 1, .code = 11000}};
    EXPECT_FALSE(mongo::may_have_been_applied(with(bulk)));
    bulk.ended_by = error{boost::asio::error::eof, "x"};
    EXPECT_TRUE(mongo::may_have_been_applied(with(bulk)));
    bulk.ended_by = error{errc::no_server, "x"};
    EXPECT_FALSE(mongo::may_have_been_applied(with(bulk)));
    bulk.write_concern_errors = {{.code = 64}};
    EXPECT_TRUE(mongo::may_have_been_applied(with(bulk)));
}

TEST(mongo_error, partly_done_write_counts_as_applied)
{
    mongo::write_failure many = single({{.code = 11000}});
    many.partly_done = true;
    EXPECT_TRUE(mongo::may_have_been_applied(with(many)));

    mongo::write_failure unread;  // the results of a client's bulk write
    unread.ended_by = error{server_says(43), "no such cursor"};
    EXPECT_FALSE(mongo::may_have_been_applied(with(unread)));
    unread.partly_done = true;
    EXPECT_TRUE(mongo::may_have_been_applied(with(unread)));
}

}  // namespace
}  // namespace holdfast::mongo_error_test
