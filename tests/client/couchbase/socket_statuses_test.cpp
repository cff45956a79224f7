// tidy: table of all answers of a server that are not carried out requests
// Each status as the answer to each kind of operation, on sockets: what the caller gets, and how
// many requests that costs.
#include "client/couchbase/socket_scene.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/verifies.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace holdfast::couchbase_socket_statuses_test {
namespace {

using namespace std::chrono_literals;
using core::couchbase::kv_status;
using couchbase::errc;
using couchbase::raw_json;
using proof::answer_with;
using proof::use_awaitable;
namespace cb = couchbase;

using outcome = result<bool>;

template <class T>
asio::awaitable<outcome> without_value(asio::awaitable<result<T>> what)
{
    auto got = co_await std::move(what);
    if (!got)
        co_return std::move(got).error();
    co_return true;
}

struct operation_row {
    std::string name;  // of the lab
    bool changes;
    std::function<asio::awaitable<outcome>(const cb::collection&, std::string_view, cb::cas)> start;
};

const std::vector<operation_row>& all_operations()
{
    static const raw_json content{R"({"n":1})"};
    static const cb::lookup paths{cb::get("n")};
    static const cb::changes edit{cb::upsert("n", 2)};
    using in = const cb::collection&;
    using id = std::string_view;
    const auto a = use_awaitable;
    static const std::vector<operation_row> all{
        {"get", false, [a](in c, id k, cb::cas) { return without_value(c.get(k, {}, a)); }},
        {"lookup_in", false,
         [a](in c, id k, cb::cas) { return without_value(c.lookup_in(k, paths, {}, a)); }},
        {"upsert", true,
         [a](in c, id k, cb::cas) { return without_value(c.upsert(k, content, {}, a)); }},
        {"insert", true,
         [a](in c, id k, cb::cas) {
             return without_value(c.insert("new " + std::string{k}, content, {}, a));
         }},
        {"remove", true, [a](in c, id k, cb::cas) { return without_value(c.remove(k, {}, a)); }},
        {"mutate_in", true,
         [a](in c, id k, cb::cas) { return without_value(c.mutate_in(k, edit, {}, a)); }},
        {"increment", true,
         [a](in c, id k, cb::cas) {
             return without_value(c.increment("n " + std::string{k}, {.initial = 1}, a));
         }},
        {"unlock", true,
         [a](in c, id k, cb::cas v) { return without_value(c.unlock(k, v, {}, a)); }},
    };
    return all;
}

struct answer_row {
    unsigned status;
    errc code;
};

/// Answers that are given to the caller as they are.
constexpr answer_row answers[] = {
    {0x01, errc::document_not_found},
    {0x02, errc::cas_mismatch},  // of an insert: document_exists
    {0x03, errc::value_too_large},
    {0x04, errc::invalid_argument},
    {0x05, errc::document_not_found},
    {0x06, errc::delta_invalid},
    {0x08, errc::bucket_not_found},
    {0x0e, errc::document_not_locked},
    {0x20, errc::authentication_failure},
    {0x22, errc::invalid_argument},
    {0x24, errc::authentication_failure},
    {0x25, errc::temporary_failure},
    {0x30, errc::rate_limited},
    {0x31, errc::rate_limited},
    {0x32, errc::rate_limited},
    {0x33, errc::rate_limited},
    {0x34, errc::quota_limited},
    {0x80, errc::invalid_argument},
    {0x81, errc::unsupported_operation},
    {0x82, errc::temporary_failure},
    {0x83, errc::unsupported_operation},
    {0x84, errc::internal_server_failure},
    {0x85, errc::temporary_failure},
    {0x87, errc::invalid_argument},
    {0xa0, errc::durability_level_not_available},
    {0xa1, errc::durability_impossible},
    {0xa3, errc::durability_ambiguous},
    {0xc0, errc::path_not_found},
    {0xc1, errc::path_mismatch},
    {0xc2, errc::path_invalid},
    {0xc3, errc::path_too_big},
    {0xc4, errc::path_too_deep},
    {0xc5, errc::value_invalid},
    {0xc6, errc::document_not_json},
    {0xc7, errc::number_too_big},
    {0xc8, errc::delta_invalid},
    {0xc9, errc::path_exists},
    {0xca, errc::value_too_deep},
    {0xcb, errc::invalid_argument},
    {0xce, errc::invalid_argument},
    {0xcf, errc::xattr_invalid_key_combo},
    {0xd0, errc::xattr_unknown_macro},
    {0xd1, errc::xattr_unknown_virtual_attribute},
    {0xd2, errc::xattr_cannot_modify_virtual_attribute},
    {0xd4, errc::invalid_argument},
    {0xd6, errc::cannot_revive_living_document},
    {0x7abc, errc::generic_failure},
};

struct listed_row {
    unsigned status;
    const char* reason;
    const char* id;
};

/// Answers after which the request is sent again.
constexpr listed_row listed[] = {
    {0x07, "KV_NOT_MY_VBUCKET", "CR-081"},
    {0x09, "KV_LOCKED", "CR-083"},
    {0x86, "KV_TEMPORARY_FAILURE", "CR-084"},
    {0x88, "KV_COLLECTION_OUTDATED", "CR-082"},
    {0xa2, "KV_SYNC_WRITE_IN_PROGRESS", "CR-058"},
    {0xa4, "KV_SYNC_WRITE_RE_COMMIT_IN_PROGRESS", "CR-058"},
};

class couchbase_socket_statuses : public ::testing::Test {
protected:
    couchbase_socket_statuses()
    {
        scene.connect();
        scene.warm_up();
    }
    /// A document of that id for an operation; for an unlock it is locked.
    cb::cas prepare(const operation_row& of, std::string_view id)
    {
        EXPECT_TRUE(scene.upsert(id, R"({"n":1})")->good());
        if (of.name != "unlock")
            return {};
        const auto locked = scene.run(scene.documents().get_and_lock(id, 25s, {}, use_awaitable));
        EXPECT_TRUE(locked->good()) << locked->explain();
        return locked->good() ? (*locked->outcome)->cas : cb::cas{};
    }
    auto run(const operation_row& of, std::string_view id, cb::cas version)
    {
        return scene.run(of.start(scene.documents(), id, version));
    }

    proof::socket_scene scene{{}};
};

std::string row_text(const operation_row& of, unsigned status)
{
    return of.name + ", status " + std::to_string(status);
}

TEST_F(couchbase_socket_statuses, answers_that_are_not_listed_are_one_request_for_every_operation)
{
    VERIFIES_BY_TRAFFIC("CR-004");
    VERIFIES_BY_TRAFFIC("CR-080");
    static_assert(std::size(answers) >= 40);
    for (const operation_row& of : all_operations()) {
        const cb::cas version = prepare(of, of.name);
        for (const answer_row& row : answers) {
            SCOPED_TRACE(row_text(of, row.status));
            scene.count(of.name);
            scene.fault(of.name, answer_with(static_cast<kv_status>(row.status)));
            const auto got = run(of, of.name, version);
            const bool is_insert = of.name == "insert" && row.status == 0x02;
            EXPECT_EQ(got->code(), is_insert ? errc::document_exists : row.code) << got->explain();
            if (got->good())
                continue;
            EXPECT_EQ(scene.arrived(of.name), 1);
            EXPECT_EQ(got->error().history().size(), 1u);
            const bool in_doubt = of.changes && row.code == errc::durability_ambiguous;
            EXPECT_EQ(got->error().context("may_have_been_applied"), in_doubt ? "true" : "false");
        }
        scene.lab.clear_faults();
        const auto well = run(of, of.name, version);
        EXPECT_TRUE(well->good()) << of.name << ": " << well->explain();
    }
}

TEST_F(couchbase_socket_statuses, answers_that_are_listed_are_retried_for_every_operation)
{
    for (const listed_row& row : listed) {
        VERIFIES_ROW_BY_TRAFFIC(row.id);
        for (const operation_row& of : all_operations()) {
            SCOPED_TRACE(row_text(of, row.status));
            const std::string id = of.name + std::to_string(row.status);
            const cb::cas version = prepare(of, id);
            scene.count(of.name);
            scene.fault(of.name, answer_with(static_cast<kv_status>(row.status), 2));
            const auto got = run(of, id, version);
            if (of.name == "unlock" && row.status == 0x09) {
                EXPECT_EQ(got->code(), errc::cas_mismatch) << got->explain();
                EXPECT_EQ(scene.arrived(of.name), 1);
                continue;
            }
            EXPECT_TRUE(got->good()) << got->explain();
            EXPECT_EQ(scene.arrived(of.name), 3);
            EXPECT_GE(got->took(), 3ms) << "1 and 2, or 1 and 10";
        }
    }
}

TEST_F(couchbase_socket_statuses, listed_answers_give_their_reasons_in_the_history)
{
    for (const listed_row& row : listed) {
        VERIFIES_ROW_BY_TRAFFIC(row.id);
        SCOPED_TRACE(row.reason);
        scene.fault("get", answer_with(static_cast<kv_status>(row.status)));
        // A read: a change may be on its way when its time is over, and be in doubt.
        const auto late = scene.get("warm1", {.timeout = 20ms});
        EXPECT_EQ(late->code(), errc::unambiguous_timeout) << late->explain();
        EXPECT_EQ(proof::reasons_of(late->error()).front(), row.reason);
        EXPECT_GE(late->took(), 20ms);
    }
}

}  // namespace
}  // namespace holdfast::couchbase_socket_statuses_test
