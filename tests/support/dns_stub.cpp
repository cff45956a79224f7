#include "support/dns_stub.hpp"

#include "support/dns_records.hpp"

#include <boost/asio/ip/address.hpp>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <list>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

namespace holdfast::proof {
namespace {

using bytes = std::span<const std::uint8_t>;

/// A socket on 127.0.0.1, at any free port if 0 is asked for.
int open_socket(int type, std::uint16_t port)
{
    const int made = ::socket(AF_INET, type, 0);
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    where.sin_port = htons(port);
    const bool bound = ::bind(made, reinterpret_cast<sockaddr*>(&where), sizeof where) == 0;
    if (bound && (type != SOCK_STREAM || ::listen(made, 16) == 0))
        return made;
    ::close(made);
    return -1;
}

std::uint16_t port_of(int socket)
{
    sockaddr_in where{};
    socklen_t size = sizeof where;
    ::getsockname(socket, reinterpret_cast<sockaddr*>(&where), &size);
    return ntohs(where.sin_port);
}

}  // namespace

struct dns_stub::server {
    /// A client that asked by TCP.
    struct client {
        int socket;
        message received = {};
    };
    struct held {
        message asked;
        sockaddr_in from;
    };

    server()
    {
        for (int tries = 0; tries < 50 && tcp < 0; ++tries) {
            if (udp >= 0)
                ::close(udp);
            udp = open_socket(SOCK_DGRAM, 0);
            tcp = open_socket(SOCK_STREAM, port_of(udp));  // the same port must be free there too
        }
        if (tcp < 0 || ::pipe(wake) != 0)
            throw std::runtime_error{"no port for a name server on 127.0.0.1"};
        thread = std::thread{[this] { run(); }};
    }
    ~server()
    {
        {
            const std::scoped_lock lock{mutex};
            ends = true;
        }
        nudge();
        thread.join();
        for (const client& c : clients)
            ::close(c.socket);
        for (const int one : {udp, tcp, wake[0], wake[1]})
            ::close(one);
    }

    void nudge() { [[maybe_unused]] const auto written = ::write(wake[1], "", 1); }

    void run()
    {
        for (;;) {
            std::vector<pollfd> all{{wake[0], POLLIN, 0}, {udp, POLLIN, 0}, {tcp, POLLIN, 0}};
            for (const client& c : clients)
                all.push_back({c.socket, POLLIN, 0});
            ::poll(all.data(), all.size(), -1);
            if (all[0].revents != 0 && !hear_nudge())
                return;
            if (all[1].revents != 0)
                hear_udp();
            auto at = all.begin() + 3;
            for (auto c = clients.begin(); c != clients.end(); ++at)
                c = at->revents == 0 || hear_tcp(*c) ? std::next(c) : clients.erase(c);
            if (all[2].revents != 0)
                clients.push_back({::accept(tcp, nullptr, nullptr)});
        }
    }

    bool hear_nudge()
    {
        char one = 0;
        [[maybe_unused]] const auto got = ::read(wake[0], &one, 1);
        std::vector<held> free;
        {
            const std::scoped_lock lock{mutex};
            if (ends)
                return false;
            if (mode != manner::holds)
                free.swap(held_back);
        }
        for (const held& one_held : free)
            answer_udp(one_held.asked, one_held.from);
        return true;
    }

    void hear_udp()
    {
        std::uint8_t buffer[4096];
        sockaddr_in from{};
        socklen_t size = sizeof from;
        const auto length = ::recvfrom(udp, buffer, sizeof buffer, MSG_DONTWAIT,
                                       reinterpret_cast<sockaddr*>(&from), &size);
        if (length <= 0)
            return;
        const message asked(buffer, buffer + length);
        {
            const std::scoped_lock lock{mutex};
            ++questions;
            if (mode == manner::holds)
                held_back.push_back({asked, from});
        }
        changed.notify_all();
        answer_udp(asked, from);
    }

    void answer_udp(const message& asked, const sockaddr_in& to)
    {
        if (const message made = answer(asked, true); !made.empty())
            ::sendto(udp, made.data(), made.size(), 0, reinterpret_cast<const sockaddr*>(&to),
                     sizeof to);
    }

    bool hear_tcp(client& c)
    {
        std::uint8_t buffer[4096];
        const auto length = ::recv(c.socket, buffer, sizeof buffer, 0);
        if (length <= 0) {
            ::close(c.socket);
            return false;
        }
        c.received.insert(c.received.end(), buffer, buffer + length);
        while (c.received.size() >= 2) {
            const std::size_t size = static_cast<std::size_t>(c.received[0] << 8 | c.received[1]);
            if (c.received.size() < size + 2)
                break;
            const auto end = c.received.begin() + static_cast<std::ptrdiff_t>(size) + 2;
            const message asked(c.received.begin() + 2, end);
            c.received.erase(c.received.begin(), end);
            {
                const std::scoped_lock lock{mutex};
                ++questions;
                ++by_tcp;
            }
            changed.notify_all();
            message made = answer(asked, false);
            const std::uint8_t head[] = {static_cast<std::uint8_t>(made.size() >> 8),
                                         static_cast<std::uint8_t>(made.size())};
            made.insert(made.begin(), head, head + 2);
            ::send(c.socket, made.data(), made.size(), MSG_NOSIGNAL);
        }
        return true;
    }

    message answer(bytes as_it_came, bool by_udp)
    {
        const std::scoped_lock lock{mutex};
        const auto asked = read_question(as_it_came);
        if (!asked || mode == manner::is_silent || mode == manner::holds)
            return {};
        message made = records.answer(*asked, as_it_came);
        if (mode == manner::fails)
            made = bare_answer(as_it_came, *asked, dns_status::server_failure);
        if (mode == manner::refuses)
            made = bare_answer(as_it_came, *asked, dns_status::refused);
        if (mode == manner::truncates && by_udp)
            made = bare_answer(as_it_came, *asked, dns_status::good, true);
        if (change)
            change(made);
        return made;
    }

    int udp = -1;
    int tcp = -1;
    int wake[2] = {-1, -1};
    std::list<client> clients;  // of the thread alone

    mutable std::mutex mutex;
    mutable std::condition_variable changed;
    dns_records records;
    manner mode = manner::answers;
    std::function<void(message&)> change;
    std::vector<held> held_back;
    std::size_t questions = 0;
    std::size_t by_tcp = 0;
    bool ends = false;
    std::thread thread;
};

dns_stub::dns_stub() : server_{std::make_unique<server>()} {}
dns_stub::~dns_stub() = default;

std::string dns_stub::address() const
{
    return "127.0.0.1:" + std::to_string(port_of(server_->udp));
}

void dns_stub::add_address(std::string_view name, std::string_view address, std::uint32_t ttl)
{
    const auto parsed = boost::asio::ip::make_address(std::string{address});
    message data;
    if (parsed.is_v4())
        for (const std::uint8_t byte : parsed.to_v4().to_bytes())
            data.push_back(byte);
    else
        for (const std::uint8_t byte : parsed.to_v6().to_bytes())
            data.push_back(byte);
    const std::scoped_lock lock{server_->mutex};
    server_->records.add(name, parsed.is_v4() ? dns_type::a : dns_type::aaaa, ttl, std::move(data));
}

void dns_stub::add_srv(std::string_view name, const runtime::srv_record& record)
{
    const std::scoped_lock lock{server_->mutex};
    server_->records.add_srv(name, record);
}

void dns_stub::add_txt(std::string_view name, const std::vector<std::string>& strings)
{
    const std::scoped_lock lock{server_->mutex};
    server_->records.add_txt(name, strings);
}

void dns_stub::add_alias(std::string_view name, std::string_view of)
{
    const std::scoped_lock lock{server_->mutex};
    server_->records.add_alias(name, of);
}

void dns_stub::remove(std::string_view name)
{
    const std::scoped_lock lock{server_->mutex};
    server_->records.remove(name);
}

void dns_stub::behave(manner mode)
{
    {
        const std::scoped_lock lock{server_->mutex};
        server_->mode = mode;
    }
    server_->nudge();
}

void dns_stub::mangle(std::function<void(message&)> change)
{
    const std::scoped_lock lock{server_->mutex};
    server_->change = std::move(change);
}

std::size_t dns_stub::questions() const
{
    const std::scoped_lock lock{server_->mutex};
    return server_->questions;
}

std::size_t dns_stub::questions_by_tcp() const
{
    const std::scoped_lock lock{server_->mutex};
    return server_->by_tcp;
}

bool dns_stub::wait_for_questions(std::size_t count) const
{
    std::unique_lock lock{server_->mutex};
    return server_->changed.wait_for(lock, std::chrono::seconds{10},
                                     [&] { return server_->questions >= count; });
}

}  // namespace holdfast::proof
