#include "net/tls/session_cache.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::net {

void session_cache::put(const std::string& server, openssl_ptr<SSL_SESSION> offered)
{
    const bool once = SSL_SESSION_get_protocol_version(offered.get()) >= TLS1_3_VERSION;
    std::list<entry> added;
    added.push_back({server, std::move(offered), once});
    std::list<entry> dropped;  // freed outside the lock

    const std::scoped_lock lock{mutex_};
    const auto of_server = [&](const entry& e) { return e.server == server; };
    const auto kept = std::count_if(entries_.begin(), entries_.end(), of_server);
    auto oldest = entries_.end();
    if (kept > 0 && (!once || kept >= static_cast<std::ptrdiff_t>(limit_per_server)))
        oldest = std::find_if(entries_.begin(), entries_.end(), of_server);
    else if (entries_.size() >= limit)
        oldest = entries_.begin();
    if (oldest != entries_.end())
        dropped.splice(dropped.end(), entries_, oldest);
    entries_.splice(entries_.end(), added);
}

openssl_ptr<SSL_SESSION> session_cache::take(const std::string& server)
{
    const std::scoped_lock lock{mutex_};
    const auto newest = std::find_if(entries_.rbegin(), entries_.rend(),
                                     [&](const entry& e) { return e.server == server; });
    if (newest == entries_.rend())
        return nullptr;
    if (!newest->once) {
        SSL_SESSION_up_ref(newest->session.get());
        return openssl_ptr<SSL_SESSION>{newest->session.get()};
    }
    openssl_ptr<SSL_SESSION> taken = std::move(newest->session);
    entries_.erase(std::next(newest).base());
    return taken;
}

std::size_t session_cache::size() const
{
    const std::scoped_lock lock{mutex_};
    return entries_.size();
}

}  // namespace holdfast::net
