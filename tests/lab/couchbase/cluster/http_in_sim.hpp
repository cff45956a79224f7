#pragma once
#include "lab/couchbase/cluster/cluster_in_sim.hpp"
#include "lab/couchbase/cluster/node_service.hpp"

#include <array>
#include <memory>
#include <string>

namespace holdfast::lab::couchbase {

/// What a port sends after a few bytes.
struct dialled_port {
    std::string bytes = {};
    bool connected = false;
    bool over = false;

    /// Of a reply of HTTP; 0 if there is none.
    int status() const { return bytes.size() < 12 ? 0 : std::stoi(bytes.substr(9, 3)); }
    std::string body() const
    {
        const std::size_t end = bytes.find("\r\n\r\n");
        return end == bytes.npos ? std::string{} : bytes.substr(end + 4);
    }
};

/// Until the other side closes, or nothing has come for so long.
inline runtime::awaitable<void> talk_to(runtime::world& here, std::string place, std::string sent,
                                        std::shared_ptr<dialled_port> into, seconds longest)
{
    const std::size_t colon = place.rfind(':');
    const runtime::destination where{
        place.substr(0, colon), static_cast<std::uint16_t>(std::stoi(place.substr(colon + 1)))};
    auto connected = co_await here.connect(where, here.steady_now() + seconds{1});
    into->connected = connected.has_value();
    if (connected) {
        const runtime::stream_ptr stream = *std::move(connected);
        (void)stream->write_now({reinterpret_cast<const std::uint8_t*>(sent.data()), sent.size()});
        std::array<std::uint8_t, 4096> buffer{};
        for (;;) {
            stream->expires_at(here.steady_now() + longest);
            const runtime::io_result got = co_await stream->read_some(buffer);
            into->bytes.append(buffer.begin(), buffer.begin() + got.bytes);
            if (got.why)
                break;
        }
    }
    into->over = true;
}

/// Connects from the client's host, and waits a little.
inline std::shared_ptr<dialled_port> dial(cluster_in_sim& lab, const std::string& place,
                                          std::string sent, seconds longest = seconds{3600})
{
    auto made = std::make_shared<dialled_port>();
    lab.client.start(talk_to(lab.client.world(), place, std::move(sent), made, longest));
    lab.net.run_for(milliseconds{100});
    return made;
}

/// A request after which the connection is closed. The login is that of cluster_in_sim.
inline std::string http_text(const std::string& method, const std::string& target,
                             const std::string& body = {})
{
    return method + " " + target + " HTTP/1.1\r\nConnection: close\r\n" +
           "Authorization: Basic YWRhOmxvdmVsYWNl\r\nContent-Type: application/json\r\n" +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

inline std::shared_ptr<dialled_port> ask(cluster_in_sim& lab, const std::string& place,
                                         const std::string& method, const std::string& target,
                                         const std::string& body = {})
{
    return dial(lab, place, http_text(method, target, body));
}

/// TLS without a cipher: what it is given goes through.
class open_tls final : public runtime::tls_layer {
public:
    runtime::awaitable<result<runtime::stream_ptr>> connect(runtime::stream_ptr over,
                                                            std::string) override
    {
        co_return std::move(over);
    }
    runtime::awaitable<result<runtime::stream_ptr>> accept(runtime::stream_ptr over) override
    {
        ++accepted;
        co_return std::move(over);
    }
    int accepted = 0;
};

/// Answers with what it has counted.
class counting_service final : public node_service {
public:
    using node_service::node_service;

    http_reply answer(const http_request&) override
    {
        http_reply made;
        made.body = std::to_string(++answered_);
        return made;
    }

    static offered_service offer(const std::string& name, std::vector<std::string> shown = {})
    {
        const auto make = [name](cluster& of, std::size_t number, runtime::world& in) {
            return std::make_unique<counting_service>(of, number, name, in);
        };
        return {name, make, std::move(shown)};
    }

private:
    int answered_ = 0;
};

}  // namespace holdfast::lab::couchbase
