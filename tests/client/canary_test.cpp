#include "support/canary.hpp"

#include "api/mongo/access.hpp"
#include "client/traffic.hpp"
#include "core/mongo/handshake/password_digest.hpp"
#include "core/sasl/crypto.hpp"
#include "net/tls/tls.hpp"
#include "support/certificates.hpp"
#include "support/other_world.hpp"
#include "support/overheard.hpp"

#include <array>
#include <set>

namespace holdfast::proof::canary_test {
namespace {

using namespace std::chrono_literals;
using core::sasl::scram_hash;

std::span<const std::uint8_t> bytes_of(std::string_view text)
{
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// In the two ways in which bytes get into a text.
void add_bytes(std::set<std::string>& to, std::span<const std::uint8_t> bytes)
{
    to.insert(core::sasl::to_base64(bytes));
    std::string hex;
    for (const std::uint8_t byte : bytes) {
        hex += "0123456789abcdef"[byte >> 4];
        hex += "0123456789abcdef"[byte & 15];
    }
    to.insert(hex);
}

/// What can be computed from a password, with the salt of scripted_login.
std::set<std::string> secrets_of(std::string_view password)
{
    std::set<std::string> all = {std::string{password}};
    add_bytes(all, bytes_of(password));
    const auto md5 = core::mongo::mongo_password_digest(canary::user, password).value();
    all.insert(std::string{md5.view()});
    add_bytes(all, bytes_of(md5.view()));
    const std::array<std::uint8_t, 16> salt = {'s', 'e', 'a', 's', 'a', 'l', 't'};
    const auto which = scram_hash::sha_256;
    const auto salted = core::sasl::salted_password(which, password, salt, 4096).value();
    const auto client_key = core::sasl::hmac(which, salted.bytes(), "Client Key").value();
    add_bytes(all, salted.bytes());
    add_bytes(all, client_key.bytes());
    add_bytes(all, core::sasl::hash(which, client_key.bytes()).value().bytes());
    add_bytes(all, core::sasl::hmac(which, salted.bytes(), "Server Key").value().bytes());
    return all;
}

void add_payload(std::set<std::string>& to, bson::view from)
{
    const bson::element payload = from.find("payload");
    if (payload.type() != bson::type::binary || payload.as_binary().bytes.empty())
        return;
    const auto bytes = payload.as_binary().bytes;
    const std::string text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    to.insert(text);
    add_bytes(to, bytes);
    if (const std::size_t proof = text.find(",p="); proof != text.npos)
        to.insert(text.substr(proof + 3));
}

/// Listens to everything that clients in scenes of one test say.
class canary_test : public testing::Test {
protected:
    struct script {
        const char* name;
        std::function<void(scene&)> plays;
    };

    void connect(scene& s, const std::string& password = canary::password,
                 const std::string& more = {})
    {
        connect_in(s, {std::shared_ptr<void>{}, &s.app.world()},
                   "mongodb://" + std::string{canary::user} + ":" + password +
                       "@a/?replicaSet=rs&serverSelectionTimeoutMS=700" + more);
    }
    void connect_in(scene& s, std::shared_ptr<runtime::world> world, const std::string& uri)
    {
        auto made = mongo::access::in_world(std::move(world), uri, overheard::options(ear));
        if (made)
            s.client.emplace(*std::move(made));
        else
            ear->add(made.error());
    }

    /// Keeps what an operation came to, and what the client says of itself then.
    bool run(scene& s, const bson::document& command, mongo::command_options options = {})
    {
        const operation& op = s.run(command, options);
        ear->add(op.explain());
        if (op.done() && !op.good())
            ear->add(op.outcome->error());
        ear->add(s.client->dump_state());
        return op.good();
    }

    void end(scene& s)
    {
        for (const scripted_command& one : s.server("a").commands()) {
            add_payload(conversations, one.body.view());
            const bson::element early = one.body["speculativeAuthenticate"];
            if (early.type() == bson::type::document)
                add_payload(conversations, early.as_document());
        }
        EXPECT_EQ(s.close(), "");
        heard_all(s);
    }
    void heard_all(const scene&) const { expect_silence(); }

    void expect_silence() const
    {
        std::set<std::string> secrets = secrets_of(canary::password);
        secrets.merge(secrets_of(canary::wrong_password));
        secrets.insert(certificates::password);
        secrets.insert(conversations.begin(), conversations.end());
        const std::string text = ear->text();
        for (const std::string& one : secrets) {
            const std::size_t at = text.find(one);
            EXPECT_EQ(at, text.npos) << "\"" << one << "\" has got out: ..."
                                     << text.substr(at < 300 ? 0 : at - 300, 600);
        }
    }

    std::shared_ptr<overheard> ear = std::make_shared<overheard>();
    std::set<std::string> conversations;  // what was said while logging in
};

TEST_F(canary_test, scram_login_never_exposes_the_password)
{
    for (const bool speculative : {true, false}) {
        scene good{{.hosts = {"a"}}};
        const auto door = guarded(good, speculative);
        connect(good);
        EXPECT_TRUE(run(good, bson::doc("ping", 1, "comment", "loud and clear")));
        EXPECT_TRUE(run(good, insert_of(1), as_write()));
        EXPECT_EQ(door->logins(), 1U);
        end(good);

        scene bad{{.hosts = {"a"}}};
        const auto closed = guarded(bad, speculative);
        connect(bad, canary::wrong_password);
        EXPECT_FALSE(run(bad, ping_command()));
        EXPECT_GE(closed->refusals(), 1U);
        end(bad);
    }
    EXPECT_GE(conversations.size(), 8U);
    EXPECT_NE(ear->text().find("loud and clear"), std::string::npos) << "no listener was called";
}

TEST_F(canary_test, plain_login_never_exposes_the_password)
{
    for (const bool accepted : {true, false}) {
        scene s{{.hosts = {"a"}}};
        s.server("a").on("saslStart", [accepted](bson::view) {
            return accepted ? bson::doc("ok", 1.0, "done", true, "conversationId", 1, "payload",
                                        bson::binary{})
                            : error_reply(18);
        });
        connect(s, canary::password, "&authMechanism=PLAIN&authSource=$external");
        EXPECT_EQ(run(s, ping_command()), accepted);
        ASSERT_EQ(s.server("a").count("saslStart"), 1U);
        end(s);
    }
    const std::string plain = std::string{'\0'} + canary::user + '\0' + canary::password;
    EXPECT_TRUE(conversations.contains(plain)) << "the password did not travel";
}

TEST_F(canary_test, faults_in_every_phase_never_expose_the_password)
{
    const auto cut = [](const char* what, std::optional<std::size_t> only_bytes) {
        return [=](scene& s) {
            s.server("a").on_command(what, [only_bytes](const scripted_command&) {
                scripted_reply reply{.body = bson::doc("ok", 1.0, "text", canary::password)};
                reply.only_bytes = only_bytes;
                reply.closes = true;
                return only_bytes ? reply : hang_up();
            });
        };
    };
    const auto says = [](const char* what, bson::document reply) {
        return [=](scene& s) {
            s.server("a").on_command(
                what, [reply](const scripted_command&) { return scripted_reply{reply}; });
        };
    };
    const bson::document gossip = bson::doc("ok", 0.0, "code", 18, "codeName",
                                            "AuthenticationFailed", "errmsg",
                                            "not by lovelace, and not by babbage");
    const script scripts[] = {
        {"refused", [](scene& s) { s.server("a").stop_listening(); }},
        {"closed",
         [](scene& s) {
             s.server("a").welcomes([](std::size_t) { return scripted_server::welcome::close; });
         }},
        {"silent",
         [](scene& s) {
             s.server("a").welcomes([](std::size_t) { return scripted_server::welcome::ignore; });
         }},
        {"hello is cut",
         [](scene& s) {
             s.server("a").on_hello([](const scripted_command&) { return hang_up(); });
         }},
        {"start is cut", cut("saslStart", std::nullopt)},
        {"start is cut in the middle", cut("saslStart", 30)},
        {"end is cut", cut("saslContinue", std::nullopt)},
        {"end is cut in the middle", cut("saslContinue", 30)},
        {"the start is refused with gossip", says("saslStart", gossip)},
        {"the end is refused with gossip", says("saslContinue", gossip)},
        {"the start makes no sense",
         says("saslStart", bson::doc("ok", 1.0, "payload", "lovelace"))},
        {"the end makes no sense", says("saslContinue", bson::doc("ok", 1.0, "done", true))},
        {"operations are cut", cut("ping", std::nullopt)},
        {"overload", says("ping", overload_reply())},
        {"state change", says("ping", error_reply(10107))},
        {"no primary", [](scene& s) { s.set.elect(""); }},
    };
    for (const script& one : scripts) {
        SCOPED_TRACE(one.name);
        scene s{{.hosts = {"a"}}};
        const auto door = guarded(s, false);
        connect(s, canary::password, "&connectTimeoutMS=300");
        s.settle(1ms);
        one.plays(s);
        EXPECT_FALSE(run(s, ping_command()));
        s.set.elect("a:27017");
        EXPECT_FALSE(run(s, ping_command(), {.timeout = 50ms}));
        end(s);
    }
    EXPECT_NE(ear->text().find("selection"), std::string::npos);
}

/// A world of the simulator in which TLS can be had.
class tls_world final : public other_world {
public:
    using other_world::other_world;
    result<runtime::tls_ptr> tls(const runtime::tls_options& options) override
    {
        return net::make_tls(options);
    }
};

TEST_F(canary_test, invalid_connection_strings_never_expose_the_password)
{
    const std::string key = "&tls=true&tlsCAFile=" + certificates::file("ca.pem") +
                            "&tlsCertificateKeyFile=" + certificates::file("encrypted.pem");
    const std::string uris[] = {
        "mongodb://ada:lovelace@",
        "mongodb://ada:lovelace@/?replicaSet=rs",
        "mongodb://ada:lovelace@a:port",
        "mongodb://ada:lovelace@a:99999",
        "mongodb://ada:%zzlovelace@a",
        "mongodb://ada:lovelace@more@a",
        "mongodb://ada:lovelace/more@a",
        "mongodb://ada:lovelace?more@a/?x=y",
        "mongodb://ada:lovelace:more@a",
        "mongodb://ada:lovelace@a/?authMechanism=MONGODB-X509",
        "mongodb://ada:lovelace@a/?authMechanism=WAVE",
        "mongodb://ada:lovelace@a/"
        "?authMechanism=MONGODB-AWS&authMechanismProperties=AWS_SESSION_TOKEN:"
        "lovelace",
        "mongodb://ada:lovelace@a/?authMechanismProperties=lovelace",
        "mongodb://ada:lovelace@a/"
        "?authMechanism=GSSAPI&authMechanismProperties=SERVICE_NAME:lovelace",
        "mongodb+srv://ada:lovelace@a",
        "mongodb+srv://ada:lovelace@a.home.test:27017/",
        "mongodb+srv://ada:lovelace@nowhere.home.test/",
        "mongodb://a/?proxyHost=b&proxyUsername=ada&proxyPassword=lovelace",
        "mongodb://a/?proxyPassword=lovelace",
        "mongodb://a/?tlsCertificateKeyFilePassword=lovelace&tls=false",
        "mongodb://a/?tlsCertificateKeyFilePassword=%zzlovelace",
        "mongodb://a/?x=y" + key + "&tlsCertificateKeyFilePassword=lovelace",
        "mongodb://a/?x=y" + key + "&tlsCertificateKeyFilePassword=" + certificates::password,
    };
    std::size_t failed = 0;
    for (const std::string& uri : uris) {
        SCOPED_TRACE(uri);
        scene s{{.hosts = {"a"}}};
        connect_in(s, std::make_shared<tls_world>(s.app.world()), uri);
        if (s.client) {
            failed += run(s, ping_command(), {.timeout = 200ms}) ? 0 : 1;
            end(s);
        } else {
            ++failed;
            expect_silence();
        }
    }
    EXPECT_GE(failed, std::size(uris) - 3);
    EXPECT_NE(ear->text().find("encrypted.pem"), std::string::npos) << "no listener was called";
}

TEST_F(canary_test, sensitive_commands_are_redacted_in_events_and_log)
{
    const char* const names[] = {"authenticate",    "saslStart",  "saslContinue", "getnonce",
                                 "createUser",      "updateUser", "copydb",       "copydbgetnonce",
                                 "copydbSaslStart", "hello",      "isMaster",     "ismaster"};
    scene s{{.hosts = {"a"}}};
    connect_in(s, {std::shared_ptr<void>{}, &s.app.world()},
               "mongodb://a/?replicaSet=rs&compressors=zlib");
    ASSERT_TRUE(run(s, ping_command()));
    for (const char* const name : names) {
        SCOPED_TRACE(name);
        const bson::document command = bson::doc(
            name, 1, "pwd", canary::password, "speculativeAuthenticate",
            bson::object("saslStart", 1, "payload", canary::password));
        const bool says_hello = is_hello(name);
        s.server("a").on_command(name, [&s, says_hello](const scripted_command& asked) {
            if (says_hello && !asked.body["pwd"])
                return scripted_reply{s.set.hello_of("a:27017")};
            return scripted_reply{bson::doc("ok", 1.0, "speculativeAuthenticate",
                                            bson::object("payload", canary::password))};
        });
        EXPECT_TRUE(run(s, command));
        s.server("a").on_command(name, [&s, says_hello](const scripted_command& asked) {
            return says_hello && !asked.body["pwd"] ? scripted_reply{s.set.hello_of("a:27017")}
                                                    : hang_up();
        });
        EXPECT_FALSE(run(s, command));
        EXPECT_NE(ear->text().find(name), std::string::npos) << "its name is no secret";
    }
    // A hello without a login is one like others.
    s.server("a").on("hello", [&](bson::view) { return s.set.hello_of("a:27017"); });
    EXPECT_TRUE(run(s, bson::doc("hello", 1, "comment", "loud and clear")));
    EXPECT_NE(ear->text().find("loud and clear"), std::string::npos);
    for (const scripted_command& one : s.server("a").commands())
        EXPECT_FALSE(one.compressed && one.body["pwd"]) << one.name << " was compressed";
    end(s);
}

TEST_F(canary_test, replies_to_sensitive_commands_are_redacted)
{
    scene s{{.hosts = {"a"}}};
    connect_in(s, {std::shared_ptr<void>{}, &s.app.world()}, "mongodb://a/?replicaSet=rs");
    for (const char* const name : {"authenticate", "saslStart", "createUser", "updateUser"}) {
        SCOPED_TRACE(name);
        s.server("a").on(name, [](bson::view) {
            return bson::doc("ok", 0.0, "code", 9, "codeName", "FailedToParse", "errmsg",
                             "cannot read lovelace");
        });
        const operation& op = s.run(bson::doc(name, 1, "pwd", canary::password));
        EXPECT_EQ(op.code(), 9) << op.explain();  // the sender may see what became of it
    }
    end(s);
}

}  // namespace
}  // namespace holdfast::proof::canary_test
