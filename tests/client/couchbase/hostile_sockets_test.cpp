// What will not mend itself, and what no server should send, on sockets: clear errors, at once.
#include "holdfast/couchbase/errc.hpp"
#include "holdfast/couchbase/sync/cluster.hpp"
#include "holdfast/lab/couchbase.hpp"
#include "support/canary.hpp"
#include "support/certificates.hpp"
#include "support/verifies.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

namespace holdfast::couchbase_hostile_sockets_test {
namespace {

using namespace std::chrono_literals;
using couchbase::errc;
namespace canary = proof::canary;
using proof::certificates;
using clock = std::chrono::steady_clock;

couchbase::cluster_options login(const std::string& password = canary::password)
{
    couchbase::password known;
    known.user = canary::user;
    known.text = secret{password};
    couchbase::cluster_options options;
    options.authenticator = known;
    return options;
}

/// The first operation of a new client has failed with this code, and says so; gives the shortest
/// time of three, as other programs run on the machine of the test, too.
template <class Operation>
clock::duration first_failure(const std::string& uri, const couchbase::cluster_options& options,
                              errc code, std::string_view said, Operation operation)
{
    auto shortest = clock::duration::max();
    for (int n = 0; n != 3; ++n) {
        const couchbase::sync::cluster db{uri, options};
        const auto began = clock::now();
        const auto got = operation(db);
        shortest = std::min(shortest, clock::now() - began);
        if (got) {
            ADD_FAILURE() << "it succeeded";
            continue;
        }
        EXPECT_EQ(got.error().code(), code) << got.error().explain();
        EXPECT_NE(got.error().message().find(said), std::string::npos) << got.error().message();
    }
    return shortest;
}

result<couchbase::document<couchbase::raw_json>> get(const couchbase::sync::cluster& db)
{
    return db["travel"].default_collection().try_get("k");
}

class couchbase_hostile_sockets : public ::testing::Test {
protected:
    lab::couchbase_cluster lab = lab::couchbase_cluster::start({.nodes = 3,
                                                                .buckets = {"travel"},
                                                                .user = canary::user,
                                                                .password = canary::password})
                                     .value();
};

TEST_F(couchbase_hostile_sockets, wrong_password_is_refused_within_a_tenth_of_a_second)
{
    VERIFIES("CR-031");
    VERIFIES("CR-039");
    const auto read = first_failure(lab.uri(), login(canary::wrong_password),
                                    errc::authentication_failure, "refused", get);
    EXPECT_LT(read, 100ms);
    const auto write = first_failure(lab.uri(), login(canary::wrong_password),
                                     errc::authentication_failure, "refused", [](const auto& db) {
                                         return db["travel"].default_collection().try_upsert(
                                             "k", couchbase::raw_json{"1"});
                                     });
    EXPECT_LT(write, 100ms);
    const auto ready = first_failure(lab.uri(), login(canary::wrong_password),
                                     errc::authentication_failure, "refused",
                                     [](const auto& db) { return db.try_ready(); });
    EXPECT_LT(ready, 100ms);
}

TEST_F(couchbase_hostile_sockets, missing_bucket_is_named_within_a_tenth_of_a_second)
{
    VERIFIES("CR-035");
    VERIFIES("CR-041");
    const auto in_nowhere = [](const auto& db) {
        return db["nowhere"].default_collection().try_get("k");
    };
    EXPECT_LT(first_failure(lab.uri(), login(), errc::generic_failure, "\"nowhere\"", in_nowhere),
              100ms);
}

TEST_F(couchbase_hostile_sockets, bucket_of_others_is_named_as_well)
{
    VERIFIES("CR-041");
    ASSERT_TRUE(lab.create_bucket("own"));
    ASSERT_TRUE(lab.set_user("eve", canary::password, {"own"}));
    couchbase::cluster_options options;
    options.authenticator = couchbase::password{"eve", secret{canary::password}};
    EXPECT_LT(first_failure(lab.uri(), options, errc::generic_failure, "\"travel\"", get), 100ms);
    const couchbase::sync::cluster db{lab.uri(), options};
    EXPECT_EQ(db["own"].default_collection().try_get("k").error().code(), errc::document_not_found);
}

TEST_F(couchbase_hostile_sockets, unknown_collection_and_scope_are_named_within_50_ms)
{
    VERIFIES("CR-037");
    VERIFIES("CR-042");
    const couchbase::sync::cluster db{lab.uri(), login()};
    (void)get(db);
    auto shortest = clock::duration::max();
    for (int n = 0; n != 3; ++n) {
        const std::string name = "lost" + std::to_string(n);
        const auto began = clock::now();
        const auto in_lost = db["travel"].collection(name).try_get("k");
        const auto in_lost_scope = db["travel"][name]["c"].try_get("k");
        shortest = std::min(shortest, clock::now() - began);
        ASSERT_FALSE(in_lost);
        EXPECT_EQ(in_lost.error().code(), errc::collection_not_found);
        EXPECT_NE(in_lost.error().explain().find(name), std::string::npos);
        ASSERT_FALSE(in_lost_scope);
        EXPECT_EQ(in_lost_scope.error().code(), errc::scope_not_found);
        EXPECT_NE(in_lost_scope.error().explain().find(name), std::string::npos);
    }
    EXPECT_LT(shortest, 50ms);
}

TEST_F(couchbase_hostile_sockets, login_without_a_proof_is_none)
{
    VERIFIES("CR-045");
    for (const std::string proof : {"", "v=AAAA", "v=", "e=other-error"}) {
        lab::couchbase_fault silent_about_it;
        silent_about_it.operations = {"sasl_step"};
        silent_about_it.status = 0;
        silent_about_it.body = proof;
        ASSERT_TRUE(lab.set_fault("proof", silent_about_it));
        EXPECT_LT(first_failure(lab.uri(), login(), errc::authentication_failure, "", get), 200ms)
            << proof;
    }
    lab::couchbase_fault at_once;
    at_once.operations = {"sasl_auth"};
    at_once.status = 0;
    ASSERT_TRUE(lab.set_fault("proof", at_once));
    EXPECT_LT(first_failure(lab.uri(), login(), errc::authentication_failure, "", get), 200ms);
}

TEST_F(couchbase_hostile_sockets, damaged_frame_ends_a_connection_and_no_idempotent_operation)
{
    const couchbase::sync::cluster db{lab.uri(), login()};
    const auto in = db["travel"].default_collection();
    in.upsert("k", couchbase::raw_json{"1"});
    for (const char* const damage :
         {"wrong_magic", "huge_body", "long_key", "bad_framing", "unknown_datatype"}) {
        lab::couchbase_fault broken;
        broken.operations = {"get"};
        broken.damage = damage;
        broken.times = 1;
        ASSERT_TRUE(lab.set_fault("frame", broken));
        const auto read = in.try_get("k");
        // A frame whose parts make no sense is an answer: it is not asked for again.
        EXPECT_TRUE(read || read.error().code() == errc::decoding_failure)
            << damage << '\n'
            << (read ? "" : read.error().explain());
        EXPECT_EQ(lab.fault_hits("frame"), 1) << damage;

        broken.operations = {"upsert"};
        ASSERT_TRUE(lab.set_fault("frame", broken));
        const auto written = in.try_upsert("k", couchbase::raw_json{"2"});
        if (!written && written.error().code() != errc::decoding_failure) {
            EXPECT_EQ(written.error().code(), errc::request_canceled) << damage;
            EXPECT_EQ(written.error().context("may_have_been_applied"), "true") << damage;
        }
        EXPECT_EQ(lab.fault_hits("frame"), 1) << damage;
        lab.clear_faults();
        EXPECT_TRUE(in.try_upsert("k", couchbase::raw_json{"3"})) << damage;
    }
}

TEST_F(couchbase_hostile_sockets, replies_to_no_request_and_twice_are_ignored)
{
    const couchbase::sync::cluster db{lab.uri(), login()};
    const auto in = db["travel"].default_collection();
    in.upsert("k", couchbase::raw_json{"1"});
    lab::couchbase_fault twice;
    twice.operations = {"get"};
    twice.replies = 3;
    ASSERT_TRUE(lab.set_fault("twice", twice));
    for (int n = 0; n != 20; ++n)
        EXPECT_EQ(in.get("k").content.text(), "1");
    lab.clear_faults();
    lab::couchbase_fault foreign;
    foreign.operations = {"get"};
    foreign.foreign_opaque = true;
    foreign.times = 1;
    ASSERT_TRUE(lab.set_fault("foreign", foreign));
    const auto lost = in.try_get("k", {.timeout = 200ms});
    ASSERT_FALSE(lost);
    EXPECT_EQ(lost.error().code(), errc::unambiguous_timeout);
    EXPECT_EQ(in.get("k").content.text(), "1");
}

struct rejected {
    const char* name;
    const char* command;  // of the lab, before the name of a file if there is one
    const char* file;
    const char* said;
};

class couchbase_rejected_certificate : public ::testing::TestWithParam<rejected> {};

TEST_P(couchbase_rejected_certificate, is_named_at_once)
{
    VERIFIES("CR-033");
    VERIFIES("CR-040");
    lab::couchbase_options options;
    options.buckets = {"travel"};
    options.user = canary::user;
    options.password = canary::password;
    options.host = "localhost";
    options.tls_certificate = certificates::file("server.pem");
    auto lab = lab::couchbase_cluster::start(options).value();
    const std::string uri = lab.tls_uri() + "?trust_certificate=" + certificates::file("ca.pem");
    const rejected& of = GetParam();
    std::string command = of.command;
    if (of.file)
        command += " " + certificates::file(of.file);
    ASSERT_TRUE(lab.command(command)) << command;
    EXPECT_LT(first_failure(uri, login(), errc::generic_failure, of.said, get), 200ms);
    // A good one: the next operation of a client that has met the other one works soon.
    const couchbase::sync::cluster db{uri, login()};
    EXPECT_FALSE(get(db));
    ASSERT_TRUE(lab.command("tls-fault all none"));
    ASSERT_TRUE(lab.command("tls all " + certificates::file("server.pem")));
    const auto began = clock::now();
    auto later = get(db);
    while (later.error().code() != errc::document_not_found && clock::now() - began < 2s)
        later = get(db);
    EXPECT_EQ(later.error().code(), errc::document_not_found) << later.error().explain();
    EXPECT_LT(clock::now() - began, 1s);
}

INSTANTIATE_TEST_SUITE_P(
    all, couchbase_rejected_certificate,
    ::testing::Values(rejected{"untrusted", "tls all", "untrusted.pem", "certificate"},
                      rejected{"expired", "tls all", "expired.pem", "expired"},
                      rejected{"of_another_host", "tls all", "other_host.pem", "localhost"}),
    [](const auto& of) { return std::string{of.param.name}; });

}  // namespace
}  // namespace holdfast::couchbase_hostile_sockets_test
