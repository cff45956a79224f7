// What holds for every operation of a collection: which are sent again after a cut, and which
// answers are. One table, so that an operation that is added has to be put into it.
#include "client/couchbase/operation_table.hpp"

#include "client/couchbase/retry_support.hpp"
#include "core/couchbase/retry/idempotent.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/verifies.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::couchbase_operation_table_test {
namespace {

using namespace std::chrono_literals;
using core::couchbase::kv_opcode;
using core::couchbase::kv_status;
using couchbase::errc;
using lab::activation;
using lab::couchbase::kv_fault;
using proof::all_operations;
using proof::status_fault;
using proof::table_row;
using proof::table_scene;

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

TEST(couchbase_operation_table, look_up_of_a_collection_is_retried_after_a_cut_for_a_change_too)
{
    VERIFIES_BY_TRAFFIC("CR-076");
    table_scene scene;
    scene.cluster->create_collection("travel", "_default", "c");
    scene.fault(0, kv_opcode::get_collection_id, proof::cut_fault(), activation::times(2));
    scene.count_requests(kv_opcode::get_collection_id);
    scene.count_requests(kv_opcode::upsert);
    const couchbase::raw_json content{"{}"};
    const auto in = (*scene.client)["travel"].collection("c");
    const auto stored = scene.run(in.upsert("a", content, {}, proof::use_awaitable));
    EXPECT_TRUE(stored->good()) << stored->explain();
    EXPECT_EQ(scene.counted(kv_opcode::get_collection_id), 3);
    EXPECT_EQ(scene.counted(kv_opcode::upsert), 1);
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

TEST(couchbase_operation_table, refused_vbucket_or_collection_is_retried_without_a_strategy)
{
    VERIFIES_BY_TRAFFIC("CR-053");
    VERIFIES_BY_TRAFFIC("CR-081");
    VERIFIES_BY_TRAFFIC("CR-082");
    for (const table_row& row : all_operations()) {
        for (const kv_status status : {kv_status::not_my_vbucket, kv_status::unknown_collection}) {
            SCOPED_TRACE(std::string{row.name} + " " + std::to_string(static_cast<int>(status)));
            const auto strategy = std::make_shared<proof::refusing_strategy>();
            couchbase::cluster_options options;
            options.strategy = strategy;
            table_scene scene{options};
            scene.fault(0, row.opcode, status_fault(status), activation::times(3));
            scene.count_requests(row.opcode);
            const auto one = scene.run(row.start(scene.documents()));
            EXPECT_EQ(one->good(), row.opcode != kv_opcode::unlock) << one->explain();
            EXPECT_EQ(scene.counted(row.opcode), 4);
            EXPECT_EQ(one->took(), 1ms + 10ms + 50ms + 4 * 2ms) << "the controlled backoff";
            EXPECT_EQ(strategy->asked, 0);
        }
    }
}

struct unlisted_answer {
    kv_status status;
    errc code;
};

/// All that the library knows, but for those that are retried, those that name a document's absence
/// or existence, and "some paths failed"; and two that it does not know.
constexpr unlisted_answer unlisted_answers[] = {
    {kv_status::too_big, errc::value_too_large},
    {kv_status::invalid, errc::invalid_argument},
    {kv_status::not_stored, errc::document_not_found},
    {kv_status::delta_bad_value, errc::delta_invalid},
    {kv_status::no_bucket, errc::bucket_not_found},
    {kv_status::not_locked, errc::document_not_locked},
    {kv_status::auth_error, errc::authentication_failure},
    {kv_status::range_error, errc::invalid_argument},
    {kv_status::no_access, errc::authentication_failure},
    {kv_status::not_initialized, errc::temporary_failure},
    {kv_status::rate_limited_ingress, errc::rate_limited},
    {kv_status::rate_limited_egress, errc::rate_limited},
    {kv_status::rate_limited_connections, errc::rate_limited},
    {kv_status::rate_limited_commands, errc::rate_limited},
    {kv_status::scope_size_limit, errc::quota_limited},
    {kv_status::unknown_frame_info, errc::invalid_argument},
    {kv_status::unknown_command, errc::unsupported_operation},
    {kv_status::out_of_memory, errc::temporary_failure},
    {kv_status::not_supported, errc::unsupported_operation},
    {kv_status::internal, errc::internal_server_failure},
    {kv_status::busy, errc::temporary_failure},
    {kv_status::xattr_invalid, errc::invalid_argument},
    {kv_status::durability_invalid_level, errc::durability_level_not_available},
    {kv_status::durability_impossible, errc::durability_impossible},
    {kv_status::sync_write_ambiguous, errc::durability_ambiguous},
    {kv_status::subdoc_path_not_found, errc::path_not_found},
    {kv_status::subdoc_path_mismatch, errc::path_mismatch},
    {kv_status::subdoc_path_invalid, errc::path_invalid},
    {kv_status::subdoc_path_too_big, errc::path_too_big},
    {kv_status::subdoc_doc_too_deep, errc::path_too_deep},
    {kv_status::subdoc_cannot_insert, errc::value_invalid},
    {kv_status::subdoc_not_json, errc::document_not_json},
    {kv_status::subdoc_number_range, errc::number_too_big},
    {kv_status::subdoc_delta_invalid, errc::delta_invalid},
    {kv_status::subdoc_path_exists, errc::path_exists},
    {kv_status::subdoc_value_too_deep, errc::value_too_deep},
    {kv_status::subdoc_invalid_combination, errc::invalid_argument},
    {kv_status::subdoc_xattr_invalid_flag_combination, errc::invalid_argument},
    {kv_status::subdoc_xattr_invalid_key_combination, errc::xattr_invalid_key_combo},
    {kv_status::subdoc_xattr_unknown_macro, errc::xattr_unknown_macro},
    {kv_status::subdoc_xattr_unknown_virtual_attribute, errc::xattr_unknown_virtual_attribute},
    {kv_status::subdoc_xattr_cannot_modify_virtual_attribute,
     errc::xattr_cannot_modify_virtual_attribute},
    {kv_status::subdoc_xattr_invalid_order, errc::invalid_argument},
    {kv_status::subdoc_xattr_unknown_virtual_attribute_macro, errc::xattr_unknown_macro},
    {kv_status::subdoc_can_only_revive_deleted_documents, errc::cannot_revive_living_document},
    {kv_status::subdoc_deleted_document_cannot_have_value, errc::invalid_argument},
    {kv_status::subdoc_field_not_binary, errc::path_mismatch},
    {kv_status{0x0f}, errc::generic_failure},
    {kv_status{0x7abc}, errc::generic_failure},
};

/// A copy that has no document is none of those that could be read.
errc code_of(const table_row& row, const unlisted_answer& answer)
{
    const bool of_any_copy = std::string_view{row.name}.ends_with("_any_replica");
    return of_any_copy && answer.code == errc::document_not_found ? errc::document_irretrievable
                                                                  : answer.code;
}

TEST(couchbase_operation_table, answers_that_are_not_listed_are_one_request_for_every_operation)
{
    VERIFIES_BY_TRAFFIC("CR-004");
    VERIFIES_BY_TRAFFIC("CR-080");
    static_assert(std::size(unlisted_answers) >= 40);
    for (const table_row& row : all_operations()) {
        table_scene scene;
        scene.count_requests(row.opcode);
        std::int64_t sent = 0;
        for (const unlisted_answer& answer : unlisted_answers) {
            SCOPED_TRACE(std::string{row.name} + " " +
                         std::to_string(static_cast<int>(answer.status)));
            scene.fault(0, row.opcode, status_fault(answer.status), activation::times(1));
            const auto one = scene.run(row.start(scene.documents()));
            EXPECT_EQ(one->code(), code_of(row, answer)) << one->explain();
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
