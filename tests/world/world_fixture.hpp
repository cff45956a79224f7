#pragma once
#include "runtime/stream.hpp"
#include "runtime/wait.hpp"
#include "runtime/world.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::proof {

/// As ASSERT_TRUE, in a coroutine, which cannot return.
#define REQUIRE(condition)                          \
    do {                                            \
        if (!(condition)) {                         \
            ADD_FAILURE() << "not so: " #condition; \
            co_return;                              \
        }                                           \
    } while (false)

enum class world_kind { net, blocking, sim };

const char* name_of(world_kind kind);
std::ostream& operator<<(std::ostream& out, world_kind kind);

using client_script =
    std::function<runtime::awaitable<void>(runtime::world&, runtime::destination)>;
using server_script = std::function<runtime::awaitable<void>(runtime::world&, runtime::listener&)>;
using stream_script = std::function<runtime::awaitable<void>(runtime::world&, runtime::stream_ptr)>;

/// A client and a server, each in a world of its own or both in the same:
///   net       one io_context, one thread
///   blocking  the client on this thread, the server on a second one in an asynchronous world
///   sim       two hosts
class parties {
public:
    virtual ~parties() = default;

    virtual world_kind kind() const = 0;
    virtual runtime::world& client_world() = 0;
    virtual runtime::world& server_world() = 0;
    virtual std::string server_address() = 0;
    virtual std::string client_address() = 0;
    virtual std::string server_name() = 0;  // what to look up

    /// Runs both to their ends, which must come, and leave nothing behind.
    virtual void run(server_script server, client_script client) = 0;

    /// No host answers there, not even with a refusal.
    virtual runtime::destination silent_server() = 0;

    /// Called by the server, which has not read all that came, before it closes: by that alone a
    /// socket is reset.
    virtual void reset_connections() {}
};

std::unique_ptr<parties> make_parties(world_kind kind);

/// Every contract of runtime is a test of this class, and runs on each world.
class contract : public ::testing::TestWithParam<world_kind> {
protected:
    contract() : both{make_parties(GetParam())} {}

    bool blocks() const { return GetParam() == world_kind::blocking; }
    bool simulated() const { return GetParam() == world_kind::sim; }

    /// Where a world cannot keep a promise, this is printed, and kept with the test's result.
    static void differs(const std::string& text);

    void run(server_script server, client_script client)
    {
        both->run(std::move(server), std::move(client));
    }
    void run_client(client_script client);
    /// The same after connect() and accept().
    void run_connected(stream_script server, stream_script client);

    std::unique_ptr<parties> both;
};

#define HOLDFAST_ALL_WORLDS(suite)                                             \
    INSTANTIATE_TEST_SUITE_P(                                                  \
        contract, suite,                                                       \
        ::testing::Values(proof::world_kind::net, proof::world_kind::blocking, \
                          proof::world_kind::sim),                             \
        [](const auto& of) { return std::string{::holdfast::proof::name_of(of.param)}; })

/// Enough for everything that is to succeed, however busy the machine is.
inline constexpr std::chrono::seconds long_enough{10};

std::span<const std::uint8_t> bytes_of(std::string_view text);

struct text_read {
    std::string text;
    error_code why;
};

/// So many bytes, or fewer and an error.
runtime::awaitable<text_read> read_text(runtime::stream& from, std::size_t length);

/// All there is, and why there is no more.
runtime::awaitable<text_read> read_to_the_end(runtime::stream& from);

/// Gives back what it gets, until there is no more.
runtime::awaitable<void> echo(runtime::stream& with);

/// Does all of them at the same time, as far as the world can, and waits for all. Each is an object
/// of the caller's.
runtime::awaitable<void> all_of(runtime::world& in,
                                std::vector<std::function<runtime::awaitable<void>()>>& what);

/// `length` bytes that depend on their position.
std::string pattern(std::size_t length, unsigned seed);

}  // namespace holdfast::proof
