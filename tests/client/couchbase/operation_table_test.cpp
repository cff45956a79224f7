// What holds for every operation of a collection: which are sent again after a cut, and which
// answers are. One table, so that an operation that is added has to be put into it.
#include "client/couchbase/operation_fixture.hpp"
#include "core/couchbase/retry/idempotent.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/verifies.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace holdfast::couchbase_operation_table_test {
namespace {

using namespace std::chrono_literals;
using core::couchbase::kv_opcode;
using core::couchbase::kv_status;
using couchbase::errc;
using couchbase::raw_json;
using lab::activation;
using lab::couchbase::kv_fault;
using proof::kv_scene;
using proof::use_awaitable;
namespace cb = couchbase;

/// The outcome of any operation.
using run_outcome = result<bool>;

template <class T>
runtime::awaitable<run_outcome> without_value(runtime::awaitable<result<T>> what)
{
    auto got = co_await std::move(what);
    if (!got)
        co_return std::move(got).error();
    co_return true;
}

struct table_row {
    const char* name;
    kv_opcode opcode;
    bool is_idempotent;
    std::function<runtime::awaitable<run_outcome>(const cb::collection&)> start;
};

/// All of them succeed on a document "a" that is there, and a counter "n"; "new" is not there.
std::vector<table_row> all_operations()
{
    static const raw_json content{R"({"n":1})"};
    static const cb::lookup paths{cb::get("n")};
    static const cb::changes edit{cb::upsert("n", 2)};
    using in = const cb::collection&;
    const auto a = use_awaitable;
    return {
        {"get", kv_opcode::get, true, [a](in c) { return without_value(c.get("a", {}, a)); }},
        {"get_if", kv_opcode::get, true, [a](in c) { return without_value(c.get_if("a", {}, a)); }},
        {"get with expiry", kv_opcode::subdoc_multi_lookup, true,
         [a](in c) { return without_value(c.get("a", {.with_expiry = true}, a)); }},
        {"lookup_in", kv_opcode::subdoc_multi_lookup, true,
         [a](in c) { return without_value(c.lookup_in("a", paths, {}, a)); }},
        {"get_any_replica", kv_opcode::get, true,
         [a](in c) { return without_value(c.get_any_replica("a", {}, a)); }},
        {"lookup_in_any_replica", kv_opcode::subdoc_multi_lookup, true,
         [a](in c) { return without_value(c.lookup_in_any_replica("a", paths, {}, a)); }},
        {"exists", kv_opcode::get_meta, false,
         [a](in c) { return without_value(c.exists("a", {}, a)); }},
        {"get_and_touch", kv_opcode::get_and_touch, false,
         [a](in c) { return without_value(c.get_and_touch("a", cb::expiry::in(1h), {}, a)); }},
        {"get_and_lock", kv_opcode::get_and_lock, false,
         [a](in c) { return without_value(c.get_and_lock("a", 1s, {}, a)); }},
        {"unlock", kv_opcode::unlock, false,
         [a](in c) { return without_value(c.unlock("a", {7}, {}, a)); }},
        {"touch", kv_opcode::touch, false,
         [a](in c) { return without_value(c.touch("a", cb::expiry::in(1h), {}, a)); }},
        {"upsert", kv_opcode::upsert, false,
         [a](in c) { return without_value(c.upsert("a", content, {}, a)); }},
        {"insert", kv_opcode::insert, false,
         [a](in c) { return without_value(c.insert("new", content, {}, a)); }},
        {"replace", kv_opcode::replace, false,
         [a](in c) { return without_value(c.replace("a", content, {}, a)); }},
        {"append", kv_opcode::append, false,
         [a](in c) { return without_value(c.append("a", " ", {}, a)); }},
        {"prepend", kv_opcode::prepend, false,
         [a](in c) { return without_value(c.prepend("a", " ", {}, a)); }},
        {"increment", kv_opcode::increment, false,
         [a](in c) { return without_value(c.increment("n", {}, a)); }},
        {"decrement", kv_opcode::decrement, false,
         [a](in c) { return without_value(c.decrement("n", {}, a)); }},
        {"mutate_in", kv_opcode::subdoc_multi_mutation, false,
         [a](in c) { return without_value(c.mutate_in("a", edit, {}, a)); }},
        {"remove", kv_opcode::remove, false,
         [a](in c) { return without_value(c.remove("a", {}, a)); }},
    };
}

kv_fault status_fault(kv_status what)
{
    kv_fault made;
    made.error_code = static_cast<int>(what);
    return made;
}

/// One node and the documents of the table, new for each operation.
class table_scene : public kv_scene {
public:
    table_scene()
    {
        connect();
        EXPECT_TRUE(upsert("a", R"({"n":1})")->good());
        EXPECT_TRUE(run(documents().increment("n", {.initial = 5}, use_awaitable))->good());
    }
};

TEST(couchbase_operation_table, cut_in_flight_is_retried_exactly_for_idempotent_operations)
{
    VERIFIES_BY_TRAFFIC("CR-074");
    VERIFIES_BY_TRAFFIC("CR-075");
    VERIFIES_BY_TRAFFIC("CR-076");
    for (const table_row& row : all_operations()) {
        SCOPED_TRACE(row.name);
        EXPECT_EQ(core::couchbase::is_idempotent(row.opcode), row.is_idempotent);
        table_scene scene;
        kv_fault cut;
        cut.close_connection = true;
        scene.fault(0, row.opcode, cut, activation::times(1));
        scene.count_requests(row.opcode);
        const auto one = scene.run(row.start(scene.documents()));
        scene.simulation.run_for(1s);
        if (row.is_idempotent) {
            EXPECT_TRUE(one->good()) << one->explain();
            EXPECT_EQ(scene.counted(row.opcode), 2);
            continue;
        }
        EXPECT_EQ(one->code(), errc::request_canceled) << one->explain();
        EXPECT_LT(one->took(), 50ms);
        EXPECT_EQ(one->error().context("may_have_been_applied"), "true");
        EXPECT_EQ(scene.counted(row.opcode), 1) << "it must not be sent again";
    }
}

TEST(couchbase_operation_table, silence_ends_in_a_timeout_that_is_ambiguous_unless_idempotent)
{
    for (const table_row& row : all_operations()) {
        SCOPED_TRACE(row.name);
        table_scene scene;
        kv_fault silent;
        silent.silent = true;
        scene.fault(0, row.opcode, silent, activation::always());
        const auto one = scene.run(row.start(scene.documents()));
        EXPECT_EQ(one->code(),
                  row.is_idempotent ? errc::unambiguous_timeout : errc::ambiguous_timeout)
            << one->explain();
        EXPECT_EQ(one->took(), 2500ms);
        EXPECT_EQ(one->error().context("may_have_been_applied"),
                  row.is_idempotent ? "false" : "true");
    }
}

TEST(couchbase_operation_table, listed_answers_are_retried_for_every_operation)
{
    VERIFIES_BY_TRAFFIC("CR-058");
    VERIFIES_BY_TRAFFIC("CR-083");
    VERIFIES_BY_TRAFFIC("CR-084");
    const kv_status listed[] = {kv_status::locked, kv_status::temporary_failure,
                                kv_status::sync_write_in_progress,
                                kv_status::sync_write_re_commit_in_progress};
    for (const table_row& row : all_operations()) {
        for (const kv_status status : listed) {
            SCOPED_TRACE(std::string{row.name} + " " + std::to_string(static_cast<int>(status)));
            table_scene scene;
            scene.fault(0, row.opcode, status_fault(status), activation::times(3));
            scene.count_requests(row.opcode);
            const auto one = scene.run(row.start(scene.documents()));
            if (row.opcode == kv_opcode::unlock) {
                // It has a cas that was never given: that is its last answer, or its only one.
                const bool excepted = status == kv_status::locked;
                EXPECT_FALSE(one->good());
                EXPECT_EQ(scene.counted(row.opcode), excepted ? 1 : 4);
                if (excepted) {
                    EXPECT_EQ(one->code(), errc::cas_mismatch) << one->explain();
                }
                continue;
            }
            EXPECT_TRUE(one->good()) << one->explain();
            EXPECT_EQ(scene.counted(row.opcode), 4);
            EXPECT_EQ(one->took(), 1ms + 2ms + 4ms + 4 * 2ms) << "the strategy's waits";
        }
    }
}

struct unlisted_answer {
    kv_status status;
    errc code;
};

TEST(couchbase_operation_table, answers_that_are_not_listed_are_one_request_for_every_operation)
{
    VERIFIES_BY_TRAFFIC("CR-080");
    const unlisted_answer answers[] = {
        {kv_status::too_big, errc::value_too_large},
        {kv_status::invalid, errc::invalid_argument},
        {kv_status::no_access, errc::authentication_failure},
        {kv_status::unknown_command, errc::unsupported_operation},
        {kv_status::out_of_memory, errc::temporary_failure},
        {kv_status::not_supported, errc::unsupported_operation},
        {kv_status::internal, errc::internal_server_failure},
        {kv_status::busy, errc::temporary_failure},
        {kv_status::durability_invalid_level, errc::durability_level_not_available},
        {kv_status::durability_impossible, errc::durability_impossible},
        {kv_status::sync_write_ambiguous, errc::durability_ambiguous},
        {kv_status::rate_limited_commands, errc::rate_limited},
        {kv_status::scope_size_limit, errc::quota_limited},
        {kv_status::subdoc_xattr_unknown_macro, errc::xattr_unknown_macro},
        {kv_status{0x7abc}, errc::generic_failure},
    };
    for (const table_row& row : all_operations()) {
        table_scene scene;
        scene.count_requests(row.opcode);
        std::int64_t sent = 0;
        for (const unlisted_answer& answer : answers) {
            SCOPED_TRACE(std::string{row.name} + " " +
                         std::to_string(static_cast<int>(answer.status)));
            scene.fault(0, row.opcode, status_fault(answer.status), activation::times(1));
            const auto one = scene.run(row.start(scene.documents()));
            EXPECT_EQ(one->code(), answer.code) << one->explain();
            EXPECT_EQ(scene.counted(row.opcode), ++sent);
            EXPECT_EQ(one->error().history().size(), 1u);
        }
    }
}

TEST(couchbase_operation_table, absence_and_existence_are_named_by_the_operation)
{
    VERIFIES_BY_TRAFFIC("CR-080");
    for (const table_row& row : all_operations()) {
        SCOPED_TRACE(row.name);
        table_scene scene;
        scene.count_requests(row.opcode);
        scene.fault(0, row.opcode, status_fault(kv_status::not_found), activation::times(1));
        const auto gone = scene.run(row.start(scene.documents()));
        const std::string name = row.name;
        if (name == "get_if" || name == "exists")
            EXPECT_TRUE(gone->good()) << gone->explain();
        else
            EXPECT_EQ(gone->code(), name.ends_with("replica") ? errc::document_irretrievable
                                                              : errc::document_not_found)
                << gone->explain();
        scene.fault(0, row.opcode, status_fault(kv_status::exists), activation::times(1));
        const auto there = scene.run(row.start(scene.documents()));
        EXPECT_EQ(there->code(), name == "insert" ? errc::document_exists : errc::cas_mismatch)
            << there->explain();
        EXPECT_EQ(scene.counted(row.opcode), 2);
    }
}

}  // namespace
}  // namespace holdfast::couchbase_operation_table_test
