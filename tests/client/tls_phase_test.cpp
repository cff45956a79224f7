#include "client/traffic.hpp"
#include "net/tls/tls.hpp"
#include "support/certificates.hpp"
#include "support/other_world.hpp"

#include <deque>

namespace holdfast::proof::tls_phase_test {
namespace {

using namespace std::chrono_literals;

/// What becomes of one who connects to a server that speaks TLS.
enum class reception : std::uint8_t {
    serve,
    close,  // before a byte
    cut,  // after the client's first words
    garble,  // an answer that is no TLS
    ignore,
};

using doorman = std::function<reception(std::size_t connection)>;

/// Takes connections, and lets in who shakes hands.
class tls_listener final : public runtime::listener {
public:
    tls_listener(runtime::listener_ptr plain, runtime::tls_ptr tls, doorman doorman_given)
        : plain_{std::move(plain)}, tls_{std::move(tls)}, doorman_{std::move(doorman_given)}
    {
    }

    runtime::awaitable<result<runtime::stream_ptr>> accept() override
    {
        for (;;) {
            auto came = co_await plain_->accept();
            if (!came)
                co_return came;
            runtime::stream_ptr with = *std::move(came);
            const reception reception_mode = doorman_(++connections_);
            if (reception_mode == reception::serve) {
                auto safe = co_await tls_->accept(std::move(with));
                if (safe)
                    co_return safe;
                continue;
            }
            if (reception_mode == reception::ignore) {
                ignored_.push_back(std::move(with));
                continue;
            }
            std::uint8_t text[4096];
            if (reception_mode != reception::close)
                (void)co_await with->read_some(text);
            if (reception_mode == reception::garble)
                (void)co_await runtime::write_all(*with, std::span{text}.first(64));
        }
    }
    void cancel() noexcept override { plain_->cancel(); }
    std::uint16_t port() const noexcept override { return plain_->port(); }

private:
    runtime::listener_ptr plain_;
    runtime::tls_ptr tls_;
    doorman doorman_;
    std::size_t connections_ = 0;
    std::deque<runtime::stream_ptr> ignored_;
};

/// A world of the simulator with TLS: for clients, and for a server if it has a certificate.
class tls_world final : public other_world {
public:
    explicit tls_world(runtime::world& real, std::string certificate = {},
                       doorman doorman_given = {})
        : other_world{real},
          certificate_{std::move(certificate)},
          doorman_{std::move(doorman_given)}
    {
    }

    result<runtime::tls_ptr> tls(const runtime::tls_options& options) override
    {
        return net::make_tls(options);
    }
    result<runtime::listener_ptr> listen(runtime::destination where) override
    {
        auto plain = other_world::listen(std::move(where));
        if (!plain)
            return plain;
        runtime::tls_options options;
        options.certificate_key_file = certificates::file(certificate_);
        options.verify_peer = false;
        return runtime::listener_ptr{std::make_unique<tls_listener>(
            *std::move(plain), net::make_tls(options).value(), doorman_)};
    }

private:
    std::string certificate_;
    doorman doorman_;
};

/// A replica set of one member that speaks TLS, and a client of it.
class tls_scene {
public:
    static constexpr const char* address = "db.example.com:27017";

    explicit tls_scene(const std::string& certificate = "wildcard.pem")
        : host_{s.simulation.add_host("db.example.com")},
          here_{host_.world(), certificate, [this](std::size_t n) { return receives(n); }}
    {
        s.set.hosts = {address};
        s.set.primary = address;
        server.on_hello(
            [this](const scripted_command&) { return scripted_reply{s.set.hello_of(address)}; });
        server.on("insert", [](bson::view) { return good_write().body; });
        server.on("endSessions", [](bson::view) { return bson::doc("ok", 1.0); });
        runtime::destination where;
        where.host = "db.example.com";
        where.port = 27017;
        host_.start(server.serve(here_, where));
    }

    void connect(const std::string& more = {}, const std::string& hosts = address)
    {
        s.connect_in(std::make_shared<tls_world>(s.app.world()),
                     "mongodb://" + hosts + "/?replicaSet=rs&tls=true&tlsCAFile=" +
                         certificates::file("ca.pem") + more);
    }

    /// Connections of the pool, from now on. The monitor has come before.
    void settle_and_receive_by(reception reception_mode)
    {
        s.settle();
        receives = [reception_mode](std::size_t) { return reception_mode; };
    }

    doorman receives = [](std::size_t) { return reception::serve; };
    scene s{{.hosts = {"spare"}}};
    scripted_server server;

private:
    sim::host& host_;
    tls_world here_;
};

TEST(client_tls, monitors_and_operations_use_tls)
{
    tls_scene t;
    t.connect("&minPoolSize=2");
    for (int i = 0; i < 20; ++i) {
        const operation& op = t.s.write(i);
        ASSERT_TRUE(op.good()) << op.explain();
    }
    EXPECT_EQ(t.server.count("insert"), 20U);
    EXPECT_EQ(t.s.events().type_of(tls_scene::address), "RSPrimary");
    expect_clean(t.s);
}

TEST(client_tls, untrusted_certificate_ends_selection_at_once)
{
    for (const std::string certificate : {"untrusted.pem", "expired.pem", "other_host.pem"}) {
        SCOPED_TRACE(certificate);
        tls_scene t{certificate};
        if (certificate == "other_host.pem")  // it is db.example.com's: another name is needed
            t.s.simulation.set_addresses("coll.test",
                                         {t.s.simulation.at("db.example.com").address()});
        t.connect("", certificate == "other_host.pem" ? "coll.test:27017" : tls_scene::address);
        const operation& op = t.s.run(ping_command());
        ASSERT_TRUE(op.done());
        ASSERT_FALSE(op.good());
        EXPECT_LT(op.took(), 100ms) << "selection may last 30 s";
        EXPECT_NE(op.explain().find("waiting will not help"), std::string::npos) << op.explain();
        EXPECT_NE(op.explain().find("certificate"), std::string::npos) << op.explain();
        EXPECT_EQ(t.server.received().size(), 0U) << "something was sent to a stranger";
        const operation& again = t.s.run(ping_command());
        EXPECT_FALSE(again.good());
        EXPECT_LT(again.took(), 700ms) << "one more check, which may have to wait its turn";
        expect_clean(t.s);
    }
}

TEST(client_tls, untrusted_certificate_is_retried_without_fail_fast)
{
    tls_scene t{"untrusted.pem"};
    t.connect("&failFastOnTerminalErrors=false&serverSelectionTimeoutMS=3000");
    const operation& op = t.s.run(ping_command());
    EXPECT_FALSE(op.good());
    EXPECT_EQ(op.took(), 3s);
    EXPECT_NE(op.explain().find("certificate"), std::string::npos) << op.explain();
    expect_clean(t.s);
}

TEST(client_tls, tls_allow_invalid_certificates_accepts_any_certificate)
{
    tls_scene t{"untrusted.pem"};
    t.connect("&tlsAllowInvalidCertificates=true");
    const operation& op = t.s.run(ping_command());
    EXPECT_TRUE(op.good()) << op.explain();
    expect_clean(t.s);
}

TEST(client_tls, broken_monitor_handshake_marks_the_server_unknown)
{
    for (const reception reception_mode : {reception::close, reception::cut, reception::garble}) {
        SCOPED_TRACE(static_cast<int>(reception_mode));
        tls_scene t;
        t.receives = [reception_mode](std::size_t number) {
            return number <= 2 ? reception_mode : reception::serve;
        };
        t.connect();
        const operation& op = t.s.run(ping_command());
        EXPECT_TRUE(op.good()) << op.explain();
        EXPECT_GE(op.took(), 1s) << "two checks have failed, half a second apart";
        EXPECT_LT(op.took(), 1100ms);
        EXPECT_EQ(t.s.events().count(heard::heartbeat_failed), 2U);
        const auto lost = t.s.events().of(heard::heartbeat_failed);
        EXPECT_EQ(lost.at(0).failure->context("phase"), "tls") << lost[0].failure->explain();
        expect_clean(t.s);
    }
}

TEST(client_tls, broken_operation_handshake_clears_the_pool)
{
    for (const reception reception_mode : {reception::close, reception::cut, reception::garble}) {
        SCOPED_TRACE(static_cast<int>(reception_mode));
        tls_scene t;
        t.connect("&heartbeatFrequencyMS=60000");
        t.settle_and_receive_by(reception_mode);
        const operation& op = t.s.run(ping_command());
        ASSERT_FALSE(op.good());
        EXPECT_EQ(op.outcome->error().context("phase"), "tls") << op.explain();
        EXPECT_EQ(t.s.events().type_of(tls_scene::address), "Unknown");
        EXPECT_EQ(t.s.events().count(heard::pool_cleared, tls_scene::address), 1U);
        EXPECT_EQ(t.server.count("ping"), 0U);
        t.receives = [](std::size_t) { return reception::serve; };
        const operation& later = t.s.run(ping_command());
        EXPECT_TRUE(later.good()) << later.explain();
        EXPECT_LT(later.took(), 600ms);
        expect_clean(t.s);
    }
}

TEST(client_tls, write_after_a_broken_handshake_is_sent_once)
{
    tls_scene t;
    t.connect();
    t.s.settle();
    std::size_t cut = 0;
    t.receives = [&](std::size_t) { return cut++ == 0 ? reception::cut : reception::serve; };
    const operation& op = t.s.write();
    EXPECT_TRUE(op.good()) << op.explain();
    EXPECT_GE(cut, 2U);
    EXPECT_EQ(t.server.count("insert"), 1U);
    expect_clean(t.s);
}

TEST(client_tls, silent_handshake_ends_at_connect_timeout_ms)
{
    tls_scene t;
    t.receives = [](std::size_t) { return reception::ignore; };
    t.connect("&connectTimeoutMS=300&serverSelectionTimeoutMS=1000");
    const operation& op = t.s.run(ping_command());
    EXPECT_FALSE(op.good());
    EXPECT_EQ(op.took(), 1s);
    const auto failed = t.s.events().of(heard::heartbeat_failed);
    ASSERT_GE(failed.size(), 1U);
    EXPECT_GE(failed[0].took, 300ms);
    EXPECT_LT(failed[0].took, 310ms);
    EXPECT_EQ(t.s.events().type_of(tls_scene::address), "Unknown");
}

}  // namespace
}  // namespace holdfast::proof::tls_phase_test
