#include "seedlist_servers.hpp"

#include "case_fields.hpp"
#include "holdfast/bson/json.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace holdfast::spec {
namespace {

using runtime::awaitable;
using runtime::listener_ptr;
using runtime::stream_ptr;
using runtime::tls_ptr;

constexpr std::uint16_t members[] = {27017, 27018, 27019};
constexpr std::uint16_t routers[] = {27017, 27018};

/// Accepts TLS connections only.
class tls_listener final : public runtime::listener {
public:
    tls_listener(std::shared_ptr<runtime::listener> door, tls_ptr tls)
        : door_{std::move(door)}, tls_{std::move(tls)}
    {
    }

    awaitable<result<stream_ptr>> accept() override
    {
        for (;;) {
            auto plain = co_await door_->accept();
            if (!plain || !tls_)
                co_return plain;
            auto secured = co_await tls_->accept(*std::move(plain));
            if (secured)
                co_return secured;
            // Not a client of ours, or one that says what is wrong by itself: the next, please.
        }
    }
    void cancel() noexcept override { door_->cancel(); }
    std::uint16_t port() const noexcept override { return door_->port(); }

private:
    const std::shared_ptr<runtime::listener> door_;
    const tls_ptr tls_;
};

/// Other programs may use a port for a moment, such as a second run of these tests.
listener_ptr listen_at(runtime::world& in, std::uint16_t port)
{
    using namespace std::chrono_literals;
    for (const time_point until = in.steady_now() + 10s;; std::this_thread::sleep_for(50ms)) {
        auto door = in.listen({"127.0.0.1", port});
        if (door)
            return *std::move(door);
        demand(in.steady_now() < until,
               "port " + std::to_string(port) +
                   " of this machine is needed and cannot be had: " + door.error().message());
    }
}

std::string hello_of(deployment what, std::uint16_t port)
{
    std::string says = R"({"helloOk": true, "ok": 1, "minWireVersion": 0, "maxWireVersion": 25,
        "maxBsonObjectSize": 16777216, "maxMessageSizeBytes": 48000000,
        "maxWriteBatchSize": 100000)";
    if (what != deployment::replica_set) {
        says += R"(, "isWritablePrimary": true, "msg": "isdbgrid")";
        if (what == deployment::load_balanced)
            says += R"(, "serviceId": {"$oid": "0123456789abcdef01234567"})";
        return says + '}';
    }
    const bool is_primary = port == members[0];
    says += R"(, "setName": "repl0", "setVersion": 1, "hosts": [)";
    for (const std::uint16_t member : members)
        says += (member == members[0] ? "" : ", ") +
                ("\"localhost:" + std::to_string(member) + '"');
    says += R"(], "me": "localhost:)" + std::to_string(port) + '"';
    says += R"(, "primary": "localhost:)" + std::to_string(members[0]) + '"';
    return says + (is_primary ? R"(, "isWritablePrimary": true})"
                              : R"(, "isWritablePrimary": false, "secondary": true})");
}

std::vector<std::uint16_t> ports_of(deployment what, std::vector<std::uint16_t> seed_ports)
{
    switch (what) {
    case deployment::replica_set:
        return {std::begin(members), std::end(members)};
    case deployment::sharded:
        return {std::begin(routers), std::end(routers)};
    case deployment::load_balanced:
        return seed_ports;
    }
    return {};
}

}  // namespace

/// The world as a server sees it that is given a door instead of a port.
class seedlist_servers::doorway final : public runtime::world {
public:
    doorway(runtime::world& in, std::shared_ptr<runtime::listener> door, tls_ptr tls)
        : in_{in}, door_{std::move(door)}, tls_{std::move(tls)}
    {
    }

    result<listener_ptr> listen(runtime::destination) override
    {
        return listener_ptr{std::make_unique<tls_listener>(door_, tls_)};
    }

    runtime::executor executor() override { return in_.executor(); }
    time_point steady_now() const noexcept override { return in_.steady_now(); }
    runtime::wall_time wall_now() const noexcept override { return in_.wall_now(); }
    void random(std::span<std::uint8_t> into) override { in_.random(into); }
    runtime::alarm_clock& alarms() noexcept override { return in_.alarms(); }
    awaitable<result<stream_ptr>> connect(runtime::destination where, time_point until) override
    {
        return in_.connect(std::move(where), until);
    }
    awaitable<result<std::vector<std::string>>> resolve(std::string host, time_point until) override
    {
        return in_.resolve(std::move(host), until);
    }
    awaitable<result<std::vector<runtime::srv_record>>> resolve_srv(std::string name,
                                                                    time_point until) override
    {
        return in_.resolve_srv(std::move(name), until);
    }
    awaitable<result<std::vector<std::string>>> resolve_txt(std::string name,
                                                            time_point until) override
    {
        return in_.resolve_txt(std::move(name), until);
    }
    result<tls_ptr> tls(const runtime::tls_options& options) override { return in_.tls(options); }

private:
    runtime::world& in_;
    const std::shared_ptr<runtime::listener> door_;
    const tls_ptr tls_;
};

struct seedlist_servers::one {
    one(runtime::world& in, deployment what, std::uint16_t port, const tls_ptr& tls)
        : door{listen_at(in, port)}, sees{in, door, tls}
    {
        const auto hello = [what, port](bson::view) {
            return bson::from_json(hello_of(what, port)).value();
        };
        for (const char* command : {"hello", "isMaster", "ismaster"})
            server.on(command, hello);
        boost::asio::co_spawn(in.executor(), server.serve(sees, {"127.0.0.1", port}),
                              boost::asio::detached);
    }

    std::shared_ptr<runtime::listener> door;
    doorway sees;
    proof::scripted_server server;
};

seedlist_servers::seedlist_servers(runtime::world& in, deployment what,
                                   std::vector<std::uint16_t> seed_ports, tls_ptr tls)
{
    for (const std::uint16_t port : ports_of(what, std::move(seed_ports)))
        all_.push_back(std::make_unique<one>(in, what, port, tls));
}

seedlist_servers::~seedlist_servers() = default;

void seedlist_servers::stop()
{
    for (const auto& server : all_)
        server->door->cancel();
}

}  // namespace holdfast::spec
