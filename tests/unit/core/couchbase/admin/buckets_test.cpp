#include "core/couchbase/admin/buckets.hpp"

#include "holdfast/couchbase/errc.hpp"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::core::couchbase::admin_buckets_test {
namespace {

using namespace std::chrono_literals;
using holdfast::couchbase::bucket_type;
using holdfast::couchbase::compression_mode;
using holdfast::couchbase::conflict_resolution;
using holdfast::couchbase::durability;
using holdfast::couchbase::errc;
using holdfast::couchbase::eviction_policy;
using holdfast::couchbase::http_method;
using holdfast::couchbase::storage_backend;

TEST(couchbase_buckets, a_bucket_is_created_with_what_is_set_and_a_quota)
{
    const auto order = create_bucket("travel & more", {.replicas = 2,
                                                       .flush_enabled = true,
                                                       .type = bucket_type::ephemeral,
                                                       .eviction = eviction_policy::no_eviction,
                                                       .minimum_durability = durability::majority,
                                                       .max_expiry = 60s});
    ASSERT_TRUE(order);
    EXPECT_EQ(order->request.method, http_method::post);
    EXPECT_EQ(order->request.path, "/pools/default/buckets");
    EXPECT_EQ(order->request.content_type, form_content);
    EXPECT_EQ(order->request.body,
              "name=travel%20%26%20more&ramQuotaMB=100&replicaNumber=2&flushEnabled=1"
              "&evictionPolicy=noEviction&durabilityMinLevel=majority&maxTTL=60"
              "&bucketType=ephemeral");
    EXPECT_FALSE(order->request.idempotent);
}

TEST(couchbase_buckets, an_update_sends_only_what_can_be_changed)
{
    const auto order = update_bucket("a/b", {.ram_quota_mb = 256,
                                             .type = bucket_type::ephemeral,
                                             .compression = compression_mode::active});
    ASSERT_TRUE(order);
    EXPECT_EQ(order->request.path, "/pools/default/buckets/a%2Fb");
    EXPECT_EQ(order->request.body, "ramQuotaMB=256&compressionMode=active");
}

TEST(couchbase_buckets, reads_are_idempotent_and_changes_are_not)
{
    EXPECT_TRUE(get_all_buckets().request.idempotent);
    EXPECT_TRUE(get_bucket("a")->request.idempotent);
    EXPECT_FALSE(flush_bucket("a")->request.idempotent);
    EXPECT_FALSE(drop_bucket("a")->request.idempotent);
    EXPECT_EQ(drop_bucket("a")->request.method, http_method::remove);
    EXPECT_EQ(flush_bucket("a")->request.path, "/pools/default/buckets/a/controller/doFlush");
}

TEST(couchbase_buckets, a_name_is_needed)
{
    for (const auto& order :
         {create_bucket("", {}), update_bucket("", {}), drop_bucket(""), flush_bucket("")}) {
        ASSERT_FALSE(order);
        EXPECT_EQ(order.error().code(), errc::invalid_argument);
    }
    EXPECT_FALSE(get_bucket(std::string(2'000, 'x')));
}

TEST(couchbase_buckets, statuses_and_texts_become_errors)
{
    const auto refused = drop_bucket("a")->refused;
    struct row {
        int status;
        const char* body;
        errc expected;
    };
    const row table[] = {
        {404, "Requested resource not found.", errc::bucket_not_found},
        {400, R"({"errors":{"name":"Bucket with given name already exists"}})",
         errc::bucket_exists},
        {400, R"({"_":"Flush is disabled for the bucket"})", errc::bucket_not_flushable},
        {400, R"({"errors":{"ramQuota":"too small"}})", errc::invalid_argument},
        {401, "", errc::authentication_failure},
        {503, "", errc::internal_server_failure},
    };
    for (const row& one : table) {
        const classification meant = refused(one.status, one.body);
        EXPECT_EQ(meant.code, one.expected) << one.status << one.body;
        EXPECT_FALSE(meant.reason) << "an answer of the management service is never retried";
    }
}

TEST(couchbase_buckets, the_settings_of_a_bucket_are_read)
{
    const auto bucket = get_bucket("travel")->read(
        R"({"name":"travel","uuid":"abc","bucketType":"membase","replicaIndex":true,
            "quota":{"ram":314572800,"rawRAM":104857600},"replicaNumber":1,"maxTTL":30,
            "compressionMode":"off","evictionPolicy":"fullEviction","storageBackend":"magma",
            "durabilityMinLevel":"majorityAndPersistActive","conflictResolutionType":"lww",
            "controllers":{"flush":"/pools/default/buckets/travel/controller/doFlush"}})");
    ASSERT_TRUE(bucket) << bucket.error().explain();
    EXPECT_EQ(bucket->name, "travel");
    EXPECT_EQ(bucket->uuid, "abc");
    EXPECT_EQ(bucket->ram_quota_mb, 100u);
    EXPECT_EQ(bucket->replicas, 1u);
    EXPECT_TRUE(bucket->flush_enabled);
    EXPECT_TRUE(bucket->replica_indexes);
    EXPECT_EQ(bucket->type, bucket_type::couchbase);
    EXPECT_EQ(bucket->eviction, eviction_policy::full);
    EXPECT_EQ(bucket->compression, compression_mode::off);
    EXPECT_EQ(bucket->minimum_durability, durability::majority_and_persist_to_active);
    EXPECT_EQ(bucket->max_expiry, 30s);
    EXPECT_EQ(bucket->conflicts, conflict_resolution::timestamp);
    EXPECT_EQ(bucket->storage, storage_backend::magma);
}

TEST(couchbase_buckets, what_is_no_bucket_is_refused_and_odd_members_are_left_out)
{
    const auto order = get_all_buckets();
    for (const char* const body : {"", "[", "{}", "[{}]", R"([{"name":1}])", "[null]"}) {
        const auto buckets = order.read(body);
        ASSERT_FALSE(buckets) << body;
        EXPECT_EQ(buckets.error().code(), errc::decoding_failure) << body;
    }
    EXPECT_TRUE(order.read("[]")->empty());
    const auto odd = order.read(R"([{"name":"a","quota":[],"controllers":7,"maxTTL":"x"}])");
    ASSERT_TRUE(odd);
    EXPECT_EQ(odd->front().max_expiry, 0s);
    EXPECT_FALSE(odd->front().flush_enabled);
}

}  // namespace
}  // namespace holdfast::core::couchbase::admin_buckets_test
