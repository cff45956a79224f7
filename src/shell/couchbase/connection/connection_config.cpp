#include "shell/couchbase/connection/connection_config.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace holdfast::shell::couchbase {

namespace {

using core::couchbase::kv_feature;

std::vector<kv_feature> wanted_features(const core::couchbase::cluster_settings& settings)
{
    std::vector<kv_feature> wanted;
    for (const kv_feature one : core::couchbase::default_features()) {
        const bool is_notification = one == kv_feature::clustermap_change_notification ||
                                     one == kv_feature::clustermap_change_notification_brief;
        if ((one == kv_feature::snappy && !settings.kv.compression) ||
            (one == kv_feature::mutation_seqno && !settings.kv.mutation_tokens) ||
            (one == kv_feature::unordered_execution && !settings.kv.unordered_execution) ||
            (is_notification && !settings.config_poll.notifications))
            continue;
        wanted.push_back(one);
    }
    return wanted;
}

std::uint64_t draw_client_number(runtime::world& in)
{
    std::array<std::uint8_t, 8> bytes{};
    in.random(bytes);
    std::uint64_t number = 0;
    for (const std::uint8_t byte : bytes)
        number = number << 8 | byte;
    return number;
}

std::string to_hex(std::uint64_t number)
{
    constexpr char digits[] = "0123456789ABCDEF";
    std::string text(16, '0');
    for (std::size_t i = text.size(); number != 0; number >>= 4)
        text[--i] = digits[number & 0xf];
    return text;
}

}  // namespace

connection_config::connection_config(runtime::world& in,
                                     const core::couchbase::cluster_settings& settings, login first,
                                     std::string agent_name, blocking_maker maker,
                                     std::shared_ptr<shell::observation> observed_by)
    : agent{std::move(agent_name)},
      features{wanted_features(settings)},
      connect_timeout{settings.timeouts.kv_connect},
      bootstrap_timeout{settings.timeouts.bootstrap},
      max_in_flight{std::max(settings.kv.max_in_flight, std::uint32_t{4})},
      ip_protocol{settings.ip_protocol},
      make_blocking{std::move(maker)},
      observation{std::move(observed_by)},
      client_{to_hex(draw_client_number(in))},
      login_{std::make_shared<const login>(std::move(first))}
{
}

std::shared_ptr<const login> connection_config::current_login() const
{
    const std::scoped_lock lock{mutex_};
    return login_;
}

void connection_config::replace_login(login with)
{
    auto next = std::make_shared<const login>(std::move(with));
    const std::scoped_lock lock{mutex_};
    login_.swap(next);
}

std::string connection_config::next_connection_name() const
{
    return client_ + '/' + to_hex(connections_.fetch_add(1) + 1);
}

}  // namespace holdfast::shell::couchbase
