#include "net/dns/query.hpp"

#include "net/dns/answer.hpp"
#include "net/dns/names.hpp"

#include <boost/asio/ip/address.hpp>
#include <netinet/in.h>
#include <sys/time.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>

namespace holdfast::net {
namespace {

namespace ip = boost::asio::ip;

constexpr std::size_t most_addresses = 256;  // more are of no use to anybody
constexpr int class_internet = 1;
constexpr int type_txt = 16;
constexpr int type_srv = 33;

std::mutex& library_mutex() noexcept
{
    static std::mutex instance;
    return instance;
}

error about(const question& asked, runtime::errc code, const std::string& cause)
{
    return error{code, "cannot look up " + asked.name + ": " + cause}
        .with_context("phase", runtime::phase_resolve)
        .with_context("name", asked.name)
        .with_context("cause", cause);
}

std::optional<std::string> text_of(const sockaddr& address)
{
    if (address.sa_family == AF_INET) {
        const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
        return ip::address_v4{ntohl(v4.sin_addr.s_addr)}.to_string();
    }
    if (address.sa_family == AF_INET6) {
        const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
        ip::address_v6::bytes_type bytes;
        std::ranges::copy(v6.sin6_addr.s6_addr, bytes.begin());
        return ip::address_v6{bytes, v6.sin6_scope_id}.to_string();
    }
    return std::nullopt;
}

bool says_that_there_is_none(int ares_status) noexcept
{
    return ares_status == ARES_ENOTFOUND || ares_status == ARES_ENODATA ||
           ares_status == ARES_ENONAME || ares_status == ARES_EBADNAME;
}

}  // namespace

error lookup_failed(const question& asked, int ares_status)
{
    if (!says_that_there_is_none(ares_status))
        return about(asked, runtime::errc::name_lookup_failed, ares_strerror(ares_status));
    const bool for_service = asked.what == question::kind::srv;
    return about(asked, runtime::errc::name_not_found,
                 for_service ? "there are no SRV records" : "no such host");
}

error lookup_timed_out(const question& asked)
{
    return about(asked, runtime::errc::connect_timed_out, "no answer before the deadline");
}

error lookup_cancelled(const question& asked)
{
    return about(asked, runtime::errc::cancelled, "cancelled");
}

ares_library::ares_library()
{
    const std::scoped_lock lock{library_mutex()};
    ares_library_init(ARES_LIB_INIT_ALL);
}

ares_library::~ares_library()
{
    const std::scoped_lock lock{library_mutex()};
    ares_library_cleanup();
}

query::query(const dns_settings& settings, question asked, socket_watcher& watcher)
    : asked_{std::move(asked)}
{
    if (!can_be_asked_for(asked_.name))
        fail(ARES_EBADNAME);
    else if (open_channel(settings, watcher))
        ask();
}

bool query::open_channel(const dns_settings& settings, socket_watcher& watcher)
{
    ares_options options{};
    int mask = ARES_OPT_SOCK_STATE_CB | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES;
    options.sock_state_cb = [](void* to, ares_socket_t socket, int for_read, int for_write) {
        static_cast<socket_watcher*>(to)->watch(socket, for_read != 0, for_write != 0);
    };
    options.sock_state_cb_data = &watcher;
    options.timeout = static_cast<int>(
        std::clamp<std::int64_t>(settings.timeout.count(), 1, std::numeric_limits<int>::max()));
    options.tries = std::max(settings.tries, 1);
    if (!settings.servers.empty())
        mask |= ARES_OPT_DOMAINS;  // none: the system's are for the system's servers
    int status = ares_init_options(&channel_, &options, mask);
    if (status != ARES_SUCCESS) {
        channel_ = nullptr;
        fail(status);
        return false;
    }
    std::string servers;
    for (const std::string& server : settings.servers)
        servers += (servers.empty() ? "" : ",") + server;
    if (!servers.empty())
        status = ares_set_servers_ports_csv(channel_, servers.c_str());
    if (status == ARES_SUCCESS)
        return true;
    outcome_ = about(asked_, runtime::errc::name_lookup_failed,
                     "the configured name servers are not of the form 127.0.0.1:53 or [::1]:53");
    return false;
}

void query::ask()
{
    const char* const name = asked_.name.c_str();
    const auto take = [](void* self, int status, int, unsigned char* bytes, int length) {
        static_cast<query*>(self)->take_message(status, {bytes, static_cast<std::size_t>(length)});
    };
    const auto take_list = [](void* self, int status, int, ares_addrinfo* list) {
        static_cast<query*>(self)->take_addresses(status, list);
        if (list != nullptr)
            ares_freeaddrinfo(list);
    };
    switch (asked_.what) {
    case question::kind::addresses: {
        ares_addrinfo_hints hints{};
        hints.ai_family = AF_UNSPEC;
        hints.ai_socktype = SOCK_STREAM;
        return ares_getaddrinfo(channel_, name, nullptr, &hints, take_list, this);
    }
    case question::kind::srv:
        return ares_query(channel_, name, class_internet, type_srv, take, this);
    case question::kind::txt:
        return ares_query(channel_, name, class_internet, type_txt, take, this);
    }
}

void query::take_addresses(int status, const ares_addrinfo* list)
{
    if (status == ARES_EDESTRUCTION)
        return;  // given up
    found all;
    const ares_addrinfo_node* node = status == ARES_SUCCESS && list ? list->nodes : nullptr;
    for (; node != nullptr && all.texts.size() < most_addresses; node = node->ai_next) {
        const auto text = text_of(*node->ai_addr);
        if (text && std::ranges::find(all.texts, *text) == all.texts.end())
            all.texts.push_back(*text);
    }
    if (all.texts.empty())
        return fail(status == ARES_SUCCESS ? ARES_ENODATA : status);
    outcome_ = std::move(all);
}

void query::take_message(int status, std::span<const std::uint8_t> message)
{
    if (status == ARES_EDESTRUCTION)
        return;  // given up
    const bool for_text = asked_.what == question::kind::txt;
    if (for_text && says_that_there_is_none(status) && status != ARES_EBADNAME) {
        outcome_ = found{};
        return;
    }
    if (status != ARES_SUCCESS)
        return fail(status);
    auto texts = for_text ? read_txt(message) : std::vector<std::string>{};
    auto services = for_text ? std::vector<runtime::srv_record>{} : read_srv(message);
    if (!texts || !services)
        return fail(ARES_EBADRESP);
    if (!for_text && services->empty())
        return fail(ARES_ENODATA);
    outcome_ = found{*std::move(texts), *std::move(services)};
}

void query::process(int socket, bool for_read, bool for_write)
{
    if (channel_ != nullptr && !outcome_)
        ares_process_fd(channel_, for_read ? socket : ARES_SOCKET_BAD,
                        for_write ? socket : ARES_SOCKET_BAD);
}

time_point query::due(time_point now) const
{
    timeval wait{};
    if (channel_ == nullptr || ares_timeout(channel_, nullptr, &wait) == nullptr)
        return runtime::never;
    // A moment later, lest c-ares finds that it is not yet time.
    return now + std::chrono::seconds{wait.tv_sec} + std::chrono::microseconds{wait.tv_usec} +
           std::chrono::milliseconds{1};
}

void query::give_up() noexcept
{
    if (const ares_channel channel = std::exchange(channel_, nullptr))
        ares_destroy(channel);  // which calls back once more
}

}  // namespace holdfast::net
