#include "net/blocking/world.hpp"
#include "support/tls_pair.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

extern char** environ;

namespace holdfast::tls_openssl_peer_test {
namespace {

using namespace std::chrono_literals;
using proof::certificates;

/// The openssl program, with its input and output in our hands.
class openssl_program {
public:
    explicit openssl_program(std::vector<std::string> arguments)
    {
        int in[2];
        int out[2];
        if (::pipe(in) != 0 || ::pipe(out) != 0)
            return;
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, in[0], 0);
        posix_spawn_file_actions_adddup2(&actions, out[1], 1);
        posix_spawn_file_actions_adddup2(&actions, out[1], 2);
        for (const int ours : {in[0], in[1], out[0], out[1]})
            posix_spawn_file_actions_addclose(&actions, ours);
        arguments.insert(arguments.begin(), "openssl");
        std::vector<char*> description;
        for (std::string& chunk : arguments)
            description.push_back(chunk.data());
        description.push_back(nullptr);
        if (::posix_spawnp(&process_, "openssl", &actions, nullptr, description.data(), environ) !=
            0)
            process_ = 0;
        posix_spawn_file_actions_destroy(&actions);
        ::close(in[0]);
        ::close(out[1]);
        to_ = in[1];
        from_ = out[0];
    }
    openssl_program(const openssl_program&) = delete;
    openssl_program& operator=(const openssl_program&) = delete;
    ~openssl_program()
    {
        ::close(to_);
        ::close(from_);
        if (process_ > 0) {
            ::kill(process_, SIGKILL);
            ::waitpid(process_, nullptr, 0);
        }
    }

    void type(std::string_view text) const
    {
        EXPECT_EQ(::write(to_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    }

    /// Waits until it has printed this, and gives the rest of that line. Empty: it ended first.
    std::string wait_for(std::string_view text)
    {
        for (;;) {
            const auto found = printed_.find(text);
            const auto end = printed_.find('\n', found + text.size());
            if (found != std::string::npos && end != std::string::npos)
                return printed_.substr(found + text.size(), end - found - text.size());
            char some[1000];
            const ssize_t got = ::read(from_, some, sizeof some);
            if (got <= 0)
                return {};
            printed_.append(some, static_cast<std::size_t>(got));
        }
    }

private:
    pid_t process_ = 0;
    int to_ = -1;
    int from_ = -1;
    std::string printed_;
};

/// `openssl s_server`, which sends back every line from its end to its beginning.
struct reversing_server {
    explicit reversing_server(std::vector<std::string> more = {},
                              const std::string& certificate = "server.pem")
        : program{arguments(std::move(more), certificates::file(certificate))}
    {
        const std::string line = program.wait_for("ACCEPT 127.0.0.1:");
        EXPECT_FALSE(line.empty());
        port = static_cast<std::uint16_t>(std::stoul(line.empty() ? "0" : line));
    }
    static std::vector<std::string> arguments(std::vector<std::string> more, std::string file)
    {
        more.insert(more.begin(),
                    {"s_server", "-accept", "127.0.0.1:0", "-rev", "-cert", file, "-key", file});
        return more;
    }
    openssl_program program;
    std::uint16_t port = 0;
};

runtime::awaitable<std::optional<result<runtime::stream_ptr>>> connect(net::blocking_world& in,
                                                                       std::uint16_t port,
                                                                       runtime::tls_ptr layer)
{
    std::optional<result<runtime::stream_ptr>> made;
    const runtime::destination where{"127.0.0.1", port};
    auto plain = co_await in.connect(where, in.steady_now() + 10s);
    if (!plain)
        co_return plain;
    (*plain)->expires_at(in.steady_now() + 10s);
    auto secured = co_await layer->connect(std::move(*plain), "localhost");
    made.emplace(std::move(secured));
    co_return made;
}

/// What comes back for a line; or why nothing does.
runtime::awaitable<std::string> exchange(runtime::stream& with, std::string line)
{
    std::vector<std::uint8_t> bytes(line.begin(), line.end());
    const error_code sent = co_await runtime::write_all(with, bytes);
    if (sent)
        co_return sent.message();
    const error_code got = co_await proof::receive(with, bytes);
    if (got)
        co_return got.message();
    co_return std::string(bytes.begin(), bytes.end());
}

TEST(tls_openssl_peer, client_connects_to_s_server_and_resumes)
{
    for (const char* const version : {"-tls1_2", "-tls1_3"}) {
        SCOPED_TRACE(version);
        const reversing_server server{{version}};
        const auto layer = proof::layer(proof::trusting("ca.pem"));
        net::blocking_world world;
        for (std::uint64_t n = 0; n < 3; ++n) {
            const auto made = world.run(connect(world, server.port, layer));
            ASSERT_TRUE(made && *made) << made->error().explain();
            EXPECT_EQ(world.run(exchange(***made, "hello\n")), "olleh\n");
            EXPECT_EQ(proof::resumed(layer), n);
        }
    }
}

TEST(tls_openssl_peer, s_server_with_a_wrong_certificate_is_rejected)
{
    struct row {
        const char* certificate;
        const char* cause;
    };
    const row table[] = {
        {"expired.pem", "certificate has expired"},
        {"other_host.pem",
         "hostname mismatch: the certificate is for db.example.com, not for localhost"},
        {"untrusted.pem", "unable to get local issuer certificate"},
    };
    net::blocking_world world;
    for (const row& r : table) {
        const reversing_server server{{}, r.certificate};
        const auto made = world.run(connect(world, server.port, proof::client_layer()));
        ASSERT_TRUE(made && !*made) << r.certificate;
        EXPECT_EQ(made->error().code(), runtime::errc::certificate_rejected);
        EXPECT_EQ(made->error().context("cause"), r.cause);
    }
}

TEST(tls_openssl_peer, s_server_requiring_a_client_certificate_gets_one)
{
    const reversing_server server{{"-Verify", "2", "-verify_return_error", "-tls1_2", "-CAfile",
                                   certificates::file("ca.pem")}};
    net::blocking_world world;
    const auto none_found = world.run(connect(world, server.port, proof::client_layer()));
    ASSERT_TRUE(none_found && !*none_found);
    EXPECT_EQ(none_found->error().context("cause"), "the server demands a client certificate");

    auto known = proof::trusting("ca.pem");
    known.certificate_key_file = certificates::file("client.pem");
    const auto made = world.run(connect(world, server.port, proof::layer(known)));
    ASSERT_TRUE(made && *made);
    EXPECT_EQ(world.run(exchange(***made, "hello\n")), "olleh\n");
}

/// One connection of a client that takes new keys in the middle of it.
runtime::awaitable<std::string> serve(net::blocking_world& in, runtime::listener& at,
                                      openssl_program& client)
{
    auto plain = co_await at.accept();
    if (!plain)
        co_return plain.error().message();
    (*plain)->expires_at(in.steady_now() + 10s);
    auto made = co_await proof::server_layer()->accept(std::move(*plain));
    if (!made)
        co_return made.error().message();
    std::vector<std::uint8_t> heard(6);
    client.type("hello\n");
    const error_code first = co_await proof::receive(**made, heard);
    if (first)
        co_return first.message();
    client.type("K\n");
    client.wait_for("KEYUPDATE");
    client.type("world\n");
    const error_code second = co_await proof::receive(**made, heard);
    if (second)
        co_return second.message();
    const std::string answer = "answer: 42\n";
    const std::vector<std::uint8_t> bytes(answer.begin(), answer.end());
    const error_code sent = co_await runtime::write_all(**made, bytes);
    if (sent)
        co_return sent.message();
    EXPECT_EQ(client.wait_for("answer: "), "42");
    co_return std::string(heard.begin(), heard.end());
}

TEST(tls_openssl_peer, s_client_connects_and_updates_keys)
{
    net::blocking_world world;
    const auto door = world.listen({"127.0.0.1", 0}).value();
    openssl_program client{{"s_client", "-connect", "127.0.0.1:" + std::to_string(door->port()),
                            "-CAfile", certificates::file("ca.pem"), "-verify_return_error",
                            "-verify_hostname", "localhost", "-tls1_3"}};
    EXPECT_EQ(world.run(serve(world, *door, client)), "world\n");
}

}  // namespace
}  // namespace holdfast::tls_openssl_peer_test
