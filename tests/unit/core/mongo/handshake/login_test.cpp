#include "core/mongo/handshake/login.hpp"

#include "core/bson/base64.hpp"
#include "core/mongo/error/errc.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace holdfast::core::mongo::login_test {
namespace {

using bson::doc;
using bson::object;
using enum login_mechanism;

/// A payload, printed as specifications print it.
class payload {
public:
    explicit payload(std::string_view base64) : bytes_(bson::max_decoded_base64(base64.size()))
    {
        bytes_.resize(bson::decode_base64(base64, bytes_.data()).value());
    }
    bson::binary bytes() const { return {bytes_, bson::binary_subtype::generic}; }

private:
    std::vector<std::uint8_t> bytes_;
};

bson::document reply(int conversation, std::string_view base64, bool done)
{
    return doc("conversationId", conversation, "payload", payload{base64}.bytes(), "done", done,
               "ok", 1);
}

/// The conversations of "user" with the password "pencil" in the authentication specification.
struct transcript {
    login_mechanism mechanism;
    const char* nonce;
    const char* client_first;
    const char* server_first;
    const char* client_final;
    const char* server_final;
};

const transcript sha_1{
    scram_sha_1,
    "fyko+d2lbbFgONRv9qkxdawL",
    "biwsbj11c2VyLHI9ZnlrbytkMmxiYkZnT05Sdjlxa3hkYXdM",
    "cj1meWtvK2QybGJiRmdPTlJ2OXFreGRhd0xIbytWZ2s3cXZVT0tVd3VXTElXZzRsLzlTcmFHTUhFRSxz"
    "PXJROVpZM01udEJldVAzRTFURFZDNHc9PSxpPTEwMDAw",
    "Yz1iaXdzLHI9ZnlrbytkMmxiYkZnT05Sdjlxa3hkYXdMSG8rVmdrN3F2VU9LVXd1V0xJV2c0bC85U3Jh"
    "R01IRUUscD1NQzJUOEJ2Ym1XUmNrRHc4b1dsNUlWZ2h3Q1k9",
    "dj1VTVdlSTI1SkQxeU5ZWlJNcFo0Vkh2aFo5ZTA9"};

const transcript sha_256{
    scram_sha_256,
    "rOprNGfwEbeRWgbNEkqO",
    "biwsbj11c2VyLHI9ck9wck5HZndFYmVSV2diTkVrcU8=",
    "cj1yT3ByTkdmd0ViZVJXZ2JORWtxTyVodllEcFdVYTJSYVRDQWZ1eEZJbGopaE5sRiRrMCxzPVcyMlph"
    "SjBTTlk3c29Fc1VFamI2Z1E9PSxpPTQwOTY=",
    "Yz1iaXdzLHI9ck9wck5HZndFYmVSV2diTkVrcU8laHZZRHBXVWEyUmFUQ0FmdXhGSWxqKWhObEYkazAs"
    "cD1kSHpiWmFwV0lrNGpVaE4rVXRlOXl0YWc5empmTUhnc3FtbWl6N0FuZFZRPQ==",
    "dj02cnJpVFJCaTIzV3BSUi93dHVwK21NaFVaVW4vZEI1bkxUSlJzamw5NUc0PQ=="};

login_start begin(const transcript& t)
{
    return start_login({t.mechanism, "user", "pencil"}, t.nonce).value();
}

/// All slices of a computation at once.
result<login_step> computed(login_state& state, result<login_step> step)
{
    while (step && std::holds_alternative<compute_keys>(*step))
        step = continue_login(state);
    return step;
}
result<login_step> next_step(login_state& state, bson::view said)
{
    return computed(state, step_login(state, said));
}
result<login_step> next_of_hello(login_state& state, bson::view said)
{
    return computed(state, step_speculative(state, said));
}

bson::document command_of(const login_step& step)
{
    return std::get<send_next>(step).command;
}

TEST(scram_login, keys_are_computed_in_slices_between_which_nothing_is_accepted)
{
    login_start login = begin(sha_1);  // 10,000 iterations
    result<login_step> step = step_login(login.state, reply(1, sha_1.server_first, false));
    int slices = 0;
    for (; step && std::holds_alternative<compute_keys>(*step); ++slices)
        step = continue_login(login.state);
    EXPECT_EQ(slices, (10'000 + sasl::scram_slice - 1) / sasl::scram_slice);
    ASSERT_TRUE(step);
    EXPECT_EQ(command_of(*step).find("payload").as_binary().bytes.size(),
              payload{sha_1.client_final}.bytes().bytes.size());
    EXPECT_FALSE(continue_login(login.state)) << "there is nothing left to compute";

    login_start early = begin(sha_1);
    ASSERT_TRUE(step_login(early.state, reply(1, sha_1.server_first, false)));
    EXPECT_FALSE(step_login(early.state, reply(1, sha_1.server_final, true)));
    EXPECT_FALSE(continue_login(early.state)) << "the conversation is over";
}

TEST(scram_login, iterations_beyond_the_limit_of_the_client_are_refused)
{
    login_start login = start_login({.mechanism = scram_sha_1,
                                     .username = "user",
                                     .password = "pencil",
                                     .max_iterations = 9'999},
                                    sha_1.nonce)
                            .value();
    const auto refused = step_login(login.state, reply(1, sha_1.server_first, false));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), errc::untrusted_server);
    EXPECT_NE(refused.error().message().find("10000 is not within 4096 to 9999"),
              std::string::npos);
}

TEST(scram_login, conversation_matches_the_specification_examples)
{
    for (const transcript& t : {sha_1, sha_256}) {
        login_start login = begin(t);
        EXPECT_EQ(login.command, doc("saslStart", 1, "mechanism", name_of(t.mechanism), "payload",
                                     payload{t.client_first}.bytes(), "options",
                                     object("skipEmptyExchange", true), "$db", "admin"));
        const auto next = next_step(login.state, reply(1, t.server_first, false)).value();
        EXPECT_EQ(command_of(next), doc("saslContinue", 1, "conversationId", 1, "payload",
                                        payload{t.client_final}.bytes(), "$db", "admin"));
        const auto last = next_step(login.state, reply(1, t.server_final, true)).value();
        const auto& keys = std::get<logged_in>(last).keys;
        ASSERT_TRUE(keys);
        EXPECT_EQ(keys->hash,
                  t.mechanism == scram_sha_1 ? sasl::scram_hash::sha_1 : sasl::scram_hash::sha_256);
    }
}

TEST(scram_login, final_empty_message_is_sent_if_done_is_false)
{
    for (const transcript& t : {sha_1, sha_256}) {
        login_start login = begin(t);
        ASSERT_TRUE(next_step(login.state, reply(7, t.server_first, false)));
        const auto empty = next_step(login.state, reply(7, t.server_final, false)).value();
        EXPECT_EQ(command_of(empty), doc("saslContinue", 1, "conversationId", 7, "payload",
                                         bson::binary{}, "$db", "admin"));
        const auto last = next_step(login.state, reply(7, "", true)).value();
        EXPECT_TRUE(std::get<logged_in>(last).keys);
    }
}

TEST(scram_login, speculative_authenticate_carries_sasl_start_and_db)
{
    login_start login = begin(sha_256);
    EXPECT_EQ(login.speculative, doc("saslStart", 1, "mechanism", "SCRAM-SHA-256", "payload",
                                     payload{sha_256.client_first}.bytes(), "options",
                                     object("skipEmptyExchange", true), "db", "admin"));
    const auto in_hello = doc("conversationId", 1, "done", false, "payload",
                              payload{sha_256.server_first}.bytes());
    login_start not_in_hello = begin(sha_256);
    EXPECT_FALSE(next_step(not_in_hello.state, in_hello)) << "a command's reply has an ok";
    ASSERT_TRUE(next_of_hello(login.state, in_hello));
    EXPECT_TRUE(next_step(login.state, reply(1, sha_256.server_final, true)));
}

TEST(scram_login, cached_keys_and_auth_source_are_used)
{
    login_start first = begin(sha_256);
    ASSERT_TRUE(next_step(first.state, reply(1, sha_256.server_first, false)));
    const auto done = next_step(first.state, reply(1, sha_256.server_final, true)).value();
    const sasl::scram_keys keys = *std::get<logged_in>(done).keys;

    login_start second =
        start_login({scram_sha_256, "user", "lovelace", "sea"}, sha_256.nonce, {keys}).value();
    EXPECT_EQ(second.command.get<std::string>("$db").value(), "sea");
    const auto next = next_step(second.state, reply(1, sha_256.server_first, false)).value();
    EXPECT_EQ(command_of(next).get<bson::binary>("payload").value(),
              payload{sha_256.client_final}.bytes());
    EXPECT_EQ(command_of(next).get<std::string>("$db").value(), "sea");
}

TEST(scram_login, conversation_id_is_echoed_unchanged)
{
    for (const std::int64_t id : {std::int64_t{-5}, std::int64_t{0}, std::int64_t{1} << 40}) {
        login_start login = begin(sha_256);
        const auto next = next_step(login.state, doc("conversationId", id, "payload",
                                                     payload{sha_256.server_first}.bytes(), "done",
                                                     false, "ok", 1.0));
        EXPECT_EQ(command_of(next.value()).get<std::int64_t>("conversationId").value(), id);
    }
}

/// What a server might say at some step, and how we take it.
struct answer {
    const char* why;
    int step;  // 1: to the first message; 2: to the final one; 3: to the empty one
    bson::document said;
    error_code expected;
};

TEST(scram_login, malformed_reply_ends_the_conversation)
{
    const payload first{sha_256.server_first};
    const bson::binary f = first.bytes();
    const answer table[] = {
        {"refused", 1, doc("ok", 0, "code", 18), errc::authentication_failed},
        {"done without proof", 1, reply(1, sha_256.server_first, true), errc::untrusted_server},
        {"signature before its time", 1, reply(1, sha_256.server_final, false),
         errc::untrusted_server},
        {"no conversation", 1, doc("payload", f, "done", false, "ok", 1), errc::untrusted_server},
        {"no done", 1, doc("conversationId", 1, "payload", f, "ok", 1), errc::untrusted_server},
        {"no payload", 1, doc("conversationId", 1, "done", false, "ok", 1), errc::untrusted_server},
        {"payload as text", 1, doc("conversationId", 1, "payload", "r=", "done", false, "ok", 1),
         errc::untrusted_server},
        {"no ok", 1, doc("conversationId", 1, "payload", f, "done", false),
         errc::authentication_failed},
        {"bad text", 1, doc("ok", 1, "x", bson::unchecked_text{"\xFF"}), errc::untrusted_server},
        {"refused", 2, doc("ok", 0, "code", 18), errc::authentication_failed},
        {"another conversation", 2, reply(2, sha_256.server_final, true), errc::untrusted_server},
        {"wrong signature", 2, reply(1, sha_1.server_final, true), errc::untrusted_server},
        {"wrong signature, more to come", 2, reply(1, sha_1.server_final, false),
         errc::untrusted_server},
        {"done and no signature", 2, reply(1, "", true), errc::untrusted_server},
        {"refused", 3, doc("ok", 0, "code", 18), errc::authentication_failed},
        {"another conversation", 3, reply(2, "", true), errc::untrusted_server},
        {"still not done", 3, reply(1, "", false), errc::untrusted_server},
    };
    for (const answer& a : table) {
        login_start login = begin(sha_256);
        if (a.step > 1) {
            ASSERT_TRUE(next_step(login.state, reply(1, sha_256.server_first, false)));
        }
        if (a.step > 2) {
            ASSERT_TRUE(next_step(login.state, reply(1, sha_256.server_final, false)));
        }
        const auto step = next_step(login.state, a.said);
        ASSERT_FALSE(step) << a.why << " " << a.step;
        EXPECT_EQ(step.error().code(), a.expected) << a.why << " " << a.step;
        // No second try, not even with the right word.
        EXPECT_FALSE(next_step(login.state, reply(1, sha_256.server_final, true)));
        EXPECT_FALSE(next_step(login.state, reply(1, sha_256.server_first, false)));
    }
}

TEST(login, reply_after_completion_is_refused)
{
    login_start login = start_login({.mechanism = x509}, "").value();
    ASSERT_TRUE(next_step(login.state, doc("ok", 1)));
    EXPECT_EQ(next_step(login.state, doc("ok", 1)).error().code(), errc::untrusted_server);
}

TEST(login, refusal_has_code_and_known_labels_but_not_what_quotes_the_client)
{
    const auto labels = bson::arr("RetryableError", "lovelace", 5);
    const bson::document table[] = {
        doc("ok", 0, "code", 18, "codeName", "lovelace", "errmsg", "lovelace", "errorLabels",
            labels),
        doc("ok", 1, "lovelace",
            bson::unchecked_text{"\xFF"}),  // found by the fuzzer: a complaint that named the key
        doc("ok", 1, "conversationId", "lovelace"),
    };
    for (const bson::document& said : table) {
        login_start login = start_login({plain, "user", "lovelace"}, "").value();
        const auto step = next_step(login.state, said);
        ASSERT_FALSE(step);
        EXPECT_EQ(step.error().explain().find("lovelace"), std::string::npos);
        if (said["code"]) {
            EXPECT_EQ(step.error().code(), errc::authentication_failed);
            EXPECT_EQ(step.error().context("code"), "18");
            EXPECT_TRUE(step.error().has_label("RetryableError"));
        }
    }
}

TEST(plain_login, payload_matches_the_specification_example)
{
    login_start login = start_login({plain, "user", "pencil"}, "").value();
    EXPECT_EQ(login.command, doc("saslStart", 1, "mechanism", "PLAIN", "payload",
                                 payload{"AHVzZXIAcGVuY2ls"}.bytes(), "$db", "$external"));
    EXPECT_FALSE(login.speculative);
    const auto done = next_step(login.state, reply(1, "", true)).value();
    EXPECT_FALSE(std::get<logged_in>(done).keys);
}

TEST(plain_login, server_challenge_after_the_payload_is_refused)
{
    login_start login = start_login({plain, "user", "lovelace"}, "").value();
    EXPECT_EQ(next_step(login.state, reply(1, "", false)).error().code(), errc::untrusted_server);
    login = start_login({plain, "user", "lovelace"}, "").value();
    EXPECT_EQ(next_step(login.state, doc("ok", 1)).error().code(), errc::untrusted_server);
}

TEST(x509_login, user_field_is_sent_only_if_set)
{
    EXPECT_EQ(start_login({.mechanism = x509}, "").value().command,
              doc("authenticate", 1, "mechanism", "MONGODB-X509", "$db", "$external"));
    const auto named = start_login({.mechanism = x509, .username = "CN=client"}, "").value();
    EXPECT_EQ(named.command, doc("authenticate", 1, "mechanism", "MONGODB-X509", "user",
                                 "CN=client", "$db", "$external"));
    EXPECT_EQ(named.speculative, doc("authenticate", 1, "mechanism", "MONGODB-X509", "user",
                                     "CN=client", "db", "$external"));
}

TEST(x509_login, one_ok_reply_completes_authentication)
{
    login_start login = start_login({.mechanism = x509}, "").value();
    const auto done = next_of_hello(login.state, doc("dbname", "$external", "user", "CN=x"));
    EXPECT_TRUE(std::holds_alternative<logged_in>(done.value()));
    login = start_login({.mechanism = x509}, "").value();
    EXPECT_EQ(next_step(login.state, doc("ok", 0)).error().code(), errc::authentication_failed);
}

TEST(login, credential_without_user_or_password_is_refused)
{
    using namespace std::string_view_literals;
    struct row {
        login who;
        const char* nonce;
    };
    const row table[] = {
        {{scram_sha_256, "", "lovelace"}, "abc"},
        {{scram_sha_1, "", "lovelace"}, "abc"},
        {{scram_sha_256, "user", ""}, "abc"},
        {{scram_sha_1, "user", ""}, "abc"},
        {{scram_sha_256, "user", "lovelace\x07"}, "abc"},
        {{scram_sha_256, "user", "lovelace"}, ""},
        {{plain, "", "lovelace"}, ""},
        {{plain, "user", ""}, ""},
        {{plain, "us\0er"sv, "lovelace"}, ""},
        {{plain, "user", "love\0lace"sv}, ""},
        {{plain, "user", "\xFF"}, ""},
    };
    for (const row& r : table) {
        const auto begun = start_login(r.who, r.nonce);
        ASSERT_FALSE(begun);
        EXPECT_EQ(begun.error().code(), errc::invalid_credential);
        EXPECT_EQ(begun.error().explain().find("lovelace"), std::string::npos);
    }
    // SCRAM-SHA-1 takes passwords that SASLprep would refuse.
    EXPECT_TRUE(start_login({scram_sha_1, "user", "lovelace\x07"}, "abc"));
}

TEST(mechanism, default_follows_sasl_supported_mechs)
{
    using names = std::vector<std::string>;
    EXPECT_EQ(default_mechanism(std::nullopt), scram_sha_1);
    EXPECT_EQ(default_mechanism(names{}), scram_sha_1);
    EXPECT_EQ(default_mechanism(names{"SCRAM-SHA-1"}), scram_sha_1);
    EXPECT_EQ(default_mechanism(names{"SCRAM-SHA-1", "SCRAM-SHA-256"}), scram_sha_256);
    EXPECT_EQ(default_mechanism(names{"PLAIN", "ANY", "SCRAM-SHA-256-PLUS"}), scram_sha_1);
}

TEST(mechanism, speculative_default_is_scram_sha_256)
{
    EXPECT_EQ(speculative_mechanism(std::nullopt), scram_sha_256);
    EXPECT_EQ(speculative_mechanism(scram_sha_1), scram_sha_1);
    EXPECT_EQ(speculative_mechanism(scram_sha_256), scram_sha_256);
    EXPECT_EQ(speculative_mechanism(x509), x509);
    EXPECT_EQ(speculative_mechanism(plain), std::nullopt);
}

TEST(mechanism, lookup_by_name_is_exact)
{
    for (const login_mechanism which : {scram_sha_1, scram_sha_256, x509, plain})
        EXPECT_EQ(login_mechanism_named(name_of(which)), which);
    EXPECT_EQ(login_mechanism_named("GSSAPI"), std::nullopt);
    EXPECT_EQ(login_mechanism_named("scram-sha-1"), std::nullopt);
}

}  // namespace
}  // namespace holdfast::core::mongo::login_test
