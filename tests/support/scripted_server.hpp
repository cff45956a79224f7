#pragma once
#include "core/mongo/wire/message_flags.hpp"
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/view.hpp"
#include "runtime/world.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::proof {

/// One command as it came over the wire.
struct scripted_command {
    std::string name = {};
    std::size_t connection = 0;  // from 1, in the order of their coming
    time_point when{};
    std::size_t bytes = 0;  // of the whole message, as it was sent
    bool legacy = false;  // an OP_QUERY
    bool compressed = false;
    core::mongo::message_flags flags = {};
    bson::document body = {};
};

/// What becomes of a command: a reply, and what happens around it.
struct scripted_reply {
    bson::document body = {};  // empty: none
    duration delay{};  // before any of it happens
    std::optional<std::size_t> only_bytes = {};  // of the reply; then the connection is closed
    bool closes = false;  // after the reply, or instead of one
};

/// Closes the connection instead of answering.
inline scripted_reply hang_up(duration delay = {})
{
    return {.delay = delay, .closes = true};
}

/// Does not answer, and keeps the connection.
inline scripted_reply keep_silent()
{
    return {};
}

/// A MongoDB server that sends scripted replies, in any world. It knows hello
/// and ping; everything else, and every mischief, is scripted by its test. A hello that may wait
/// for news (topologyVersion, maxAwaitTimeMS) is kept waiting until announce() or until its time is
/// up, and answered again and again if the client allows it.
class scripted_server {
public:
    /// Gets the command, gives the reply. An empty document: close the connection instead.
    using answer = std::function<bson::document(bson::view command)>;
    using full_answer = std::function<scripted_reply(const scripted_command& command)>;
    enum class welcome : std::uint8_t { serve, close, ignore };

    scripted_server();

    void on(std::string command, answer what);
    void on_command(std::string command, full_answer what);
    /// The same for hello under all its names.
    void on_hello(const full_answer& what);

    /// What happens to those who connect: served, closed at once, or never listened to.
    void welcomes(std::function<welcome(std::size_t connection)> by_connection);

    /// Takes connections until the world ends, the port cannot be had, or stop_listening().
    runtime::awaitable<void> serve(runtime::world& in, runtime::destination where);
    /// Who connects is refused, until serve() runs again.
    void stop_listening();
    /// Closes all connections, or one.
    void drop_connections();
    void drop_connection(std::size_t number);

    /// Hellos that wait for news are answered now.
    void announce();

    /// Names of the commands received, in their order.
    const std::vector<std::string>& received() const noexcept;
    std::size_t count(std::string_view command) const noexcept;
    std::size_t connections() const noexcept;  // that ever came
    std::size_t open_connections() const noexcept;

    /// All that was received, in order; or the commands of one name.
    const std::vector<scripted_command>& commands() const noexcept;
    std::vector<scripted_command> commands(std::string_view name) const;
    /// The first hello of a connection; empty if there was none.
    bson::document first_hello(std::size_t connection) const;
    /// When each connection came, in their order.
    const std::vector<time_point>& arrivals() const noexcept;

private:
    struct script;
    std::shared_ptr<script> script_;  // outlives the server, if coroutines of it do
};

/// Whether it is hello, under one of its names.
constexpr bool is_hello(std::string_view command) noexcept
{
    return command == "hello" || command == "isMaster" || command == "ismaster";
}

}  // namespace holdfast::proof
