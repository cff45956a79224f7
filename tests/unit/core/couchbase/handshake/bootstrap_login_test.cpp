#include "core/couchbase/handshake/bootstrap.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/kv_bootstrap.hpp"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::core::couchbase::bootstrap_login_test {
namespace {

using enum kv_opcode;
using holdfast::couchbase::errc;
using proof::kv_bootstrap;
using proof::kv_sha256;
using proof::kv_sha512;
using opcodes = std::vector<kv_opcode>;

TEST(bootstrap_login, success_without_a_proof_is_refused_and_nothing_else_is_sent)
{
    kv_bootstrap talk{kv_bootstrap::with_password()};
    talk.usual_start().ok(sasl_auth);
    ASSERT_TRUE(talk.has_failed());
    EXPECT_TRUE(talk.flushed.empty());
    EXPECT_EQ(talk.failure().problem, bootstrap_problem::untrusted_server);
    EXPECT_EQ(talk.failure().why.code(), errc::authentication_failure);
    EXPECT_EQ(talk.failure().why.message(),
              "SASL: the server accepts the user without proving that it knows the password "
              "itself");
}

TEST(bootstrap_login, wrong_or_missing_proof_at_the_end_is_refused)
{
    std::string wrong{kv_sha512.server_final};
    wrong[10] = wrong[10] == 'A' ? 'B' : 'A';
    for (const std::string_view last : {std::string_view{}, std::string_view{wrong},
                                        kv_sha256.server_final, std::string_view{"v="}}) {
        kv_bootstrap talk{kv_bootstrap::with_password()};
        talk.usual_start().reply(sasl_auth, kv_status::auth_continue, kv_sha512.server_first);
        talk.ok(sasl_step, last);
        ASSERT_TRUE(talk.has_failed()) << last;
        EXPECT_TRUE(talk.flushed.empty());
        EXPECT_EQ(talk.failure().problem, bootstrap_problem::untrusted_server);
        EXPECT_EQ(talk.failure().step, sasl_step);
        EXPECT_EQ(talk.failure().why.code(), errc::authentication_failure);
    }
}

TEST(bootstrap_login, second_continue_is_refused)
{
    kv_bootstrap talk{kv_bootstrap::with_password()};
    talk.usual_start().reply(sasl_auth, kv_status::auth_continue, kv_sha512.server_first);
    talk.reply(sasl_step, kv_status::auth_continue, kv_sha512.server_final);
    EXPECT_EQ(talk.failure().problem, bootstrap_problem::untrusted_server);
}

TEST(bootstrap_login, wrong_password_is_an_authentication_failure_with_its_status)
{
    kv_bootstrap at_step{kv_bootstrap::with_password()};
    at_step.usual_start().reply(sasl_auth, kv_status::auth_continue, kv_sha512.server_first);
    at_step.reply(sasl_step, kv_status::auth_error);
    EXPECT_EQ(at_step.failure().problem, bootstrap_problem::authentication_failed);
    EXPECT_EQ(at_step.failure().status, kv_status::auth_error);
    EXPECT_EQ(at_step.failure().why.code(), errc::authentication_failure);
    EXPECT_EQ(at_step.failure().why.message(),
              "the server refused to authenticate the user by SCRAM-SHA512 (status 0x20: "
              "authentication failed)");

    kv_bootstrap at_once{kv_bootstrap::with_password()};
    at_once.usual_start().reply(sasl_auth, kv_status::auth_error);
    EXPECT_EQ(at_once.failure().problem, bootstrap_problem::authentication_failed);
    EXPECT_EQ(at_once.failure().status, kv_status::auth_error);
}

TEST(bootstrap_login, busy_server_at_the_login_is_not_an_authentication_failure)
{
    kv_bootstrap talk{kv_bootstrap::with_password()};
    talk.usual_start().reply(sasl_auth, kv_status::temporary_failure);
    EXPECT_EQ(talk.failure().problem, bootstrap_problem::refused);
    EXPECT_EQ(talk.failure().status, kv_status::temporary_failure);
    EXPECT_EQ(talk.failure().why.code(), errc::temporary_failure);
}

/// The answer to the mechanism may come before the list that explains it.
TEST(bootstrap_login, unknown_mechanism_is_replaced_by_the_best_of_the_list)
{
    for (const bool list_first : {true, false}) {
        kv_bootstrap talk{kv_bootstrap::with_password()};
        talk.ok(hello).ok(get_error_map, "{}");
        if (list_first)
            talk.ok(sasl_list_mechanisms, "PLAIN SCRAM-SHA1 SCRAM-SHA256");
        talk.reply(sasl_auth, kv_status::auth_error);
        if (!list_first) {
            EXPECT_TRUE(std::holds_alternative<read_next>(talk.action));
            talk.ok(sasl_list_mechanisms, "PLAIN SCRAM-SHA1 SCRAM-SHA256");
        }
        ASSERT_EQ(talk.opcodes(), opcodes{sasl_auth});
        EXPECT_EQ(talk.flushed[0].key, "SCRAM-SHA256");
        talk.scram(kv_sha256).ok(get_cluster_config, "{}");
        EXPECT_EQ(talk.done().mechanism, sasl_mechanism::scram_sha256);
    }
}

TEST(bootstrap_login, plain_is_never_used_outside_of_tls)
{
    kv_bootstrap talk{kv_bootstrap::with_password()};
    talk.ok(hello).ok(get_error_map, "{}").ok(sasl_list_mechanisms, "PLAIN OAUTHBEARER");
    talk.reply(sasl_auth, kv_status::auth_error);
    ASSERT_TRUE(talk.has_failed());
    EXPECT_EQ(talk.failure().problem, bootstrap_problem::no_common_mechanism);
    EXPECT_EQ(talk.failure().why.code(), errc::authentication_failure);
    EXPECT_EQ(
        talk.failure().why.message(),
        "the server authenticates by PLAIN, OAUTHBEARER, and this client may use SCRAM-SHA512, "
        "SCRAM-SHA256, SCRAM-SHA1 (PLAIN and OAUTHBEARER inside TLS only)");

    auto forced = kv_bootstrap::with_password();
    forced.mechanism = sasl_mechanism::plain;
    const kv_bootstrap refused{std::move(forced)};
    ASSERT_TRUE(refused.has_failed());
    EXPECT_TRUE(refused.flushed.empty());
    EXPECT_EQ(refused.failure().problem, bootstrap_problem::invalid_argument);

    bootstrap_options token;
    token.credential = token_credential{secret{"abc.def"}};
    const kv_bootstrap shown{std::move(token)};
    ASSERT_TRUE(shown.has_failed());
    EXPECT_TRUE(shown.flushed.empty());
}

TEST(bootstrap_login, password_inside_tls_goes_by_plain)
{
    auto options = kv_bootstrap::with_password();
    options.is_tls = true;
    kv_bootstrap talk{std::move(options)};
    ASSERT_EQ(talk.flushed.size(), 4U);
    EXPECT_EQ(talk.flushed[3].key, "PLAIN");
    EXPECT_EQ(talk.flushed[3].value, (std::string{"\0user\0pencil", 12}));
    talk.usual_start().ok(sasl_auth).ok(get_cluster_config, "{}");
    EXPECT_EQ(talk.done().mechanism, sasl_mechanism::plain);
    EXPECT_FALSE(talk.done().keys);
}

TEST(bootstrap_login, plain_that_goes_on_is_refused)
{
    auto options = kv_bootstrap::with_password();
    options.is_tls = true;
    kv_bootstrap talk{std::move(options)};
    talk.usual_start().reply(sasl_auth, kv_status::auth_continue, "x");
    EXPECT_EQ(talk.failure().problem, bootstrap_problem::untrusted_server);
}

TEST(bootstrap_login, token_goes_by_oauthbearer_inside_tls)
{
    bootstrap_options options;
    options.credential = token_credential{secret{"abc.def.ghi"}};
    options.is_tls = true;
    kv_bootstrap talk{options};
    EXPECT_EQ(talk.flushed[3].key, "OAUTHBEARER");
    EXPECT_EQ(talk.flushed[3].value,
              "n,,\x01"
              "auth=Bearer abc.def.ghi\x01\x01");
    talk.ok(hello).ok(get_error_map, "{}").ok(sasl_list_mechanisms, "OAUTHBEARER");
    talk.ok(sasl_auth).ok(get_cluster_config, "{}");
    EXPECT_EQ(talk.done().mechanism, sasl_mechanism::oauthbearer);

    kv_bootstrap refused{options};
    refused.ok(hello).ok(get_error_map, "{}").ok(sasl_list_mechanisms, "OAUTHBEARER");
    refused.reply(sasl_auth, kv_status::auth_continue, R"({"status":"invalid_token"})");
    EXPECT_EQ(refused.failure().problem, bootstrap_problem::authentication_failed);
}

TEST(bootstrap_login, client_certificate_needs_no_sasl)
{
    bootstrap_options options;
    options.is_tls = true;
    options.bucket = "travel";
    kv_bootstrap talk{std::move(options)};
    EXPECT_EQ(talk.opcodes(), (opcodes{hello, get_error_map}));
    talk.ok(hello).ok(get_error_map, "{}");
    EXPECT_EQ(talk.opcodes(), (opcodes{select_bucket, get_cluster_config}));
    talk.ok(select_bucket).ok(get_cluster_config, "{}");
    EXPECT_FALSE(talk.done().mechanism);
}

TEST(bootstrap_login, unusable_credential_is_an_error_before_anything_is_sent)
{
    auto options = kv_bootstrap::with_password();
    options.credential = password_credential{"user", secret{}};
    for (const bool tls : {false, true}) {
        options.is_tls = tls;
        const kv_bootstrap talk{options};
        ASSERT_TRUE(talk.has_failed());
        EXPECT_TRUE(talk.flushed.empty());
        EXPECT_EQ(talk.failure().problem, bootstrap_problem::invalid_argument);
        EXPECT_EQ(talk.failure().why.code(), errc::invalid_argument);
    }
}

/// A fuzzer's finding: a list of mechanisms was quoted as the server had sent it.
TEST(bootstrap_login, text_of_the_server_is_not_quoted)
{
    kv_bootstrap talk{kv_bootstrap::with_password()};
    talk.ok(hello).ok(get_error_map, "{}").ok(sasl_list_mechanisms, "pencil PLAINER");
    talk.reply(sasl_auth, kv_status::auth_error);
    EXPECT_EQ(talk.failure().problem, bootstrap_problem::no_common_mechanism);
    EXPECT_TRUE(talk.failure().why.message().starts_with(
        "the server authenticates by nothing that this client knows, and"));
    EXPECT_EQ(talk.failure().why.explain().find("pencil"), std::string::npos);
}

TEST(bootstrap_login, errors_never_show_a_secret)
{
    auto options = kv_bootstrap::with_password();
    std::get<password_credential>(options.credential).password = secret{"s3cr\xfft"};
    for (const bool tls : {false, true}) {
        options.is_tls = tls;
        kv_bootstrap talk{options};
        if (!talk.has_failed())
            talk.usual_start().reply(sasl_auth, kv_status::auth_error, "s3cr");
        ASSERT_TRUE(talk.has_failed());
        EXPECT_EQ(talk.failure().why.explain().find("s3cr"), std::string::npos);
    }
}

}  // namespace
}  // namespace holdfast::core::couchbase::bootstrap_login_test
