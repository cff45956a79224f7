#include "lab/mongo/router/set_view.hpp"

#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/set/address.hpp"
#include "lab/mongo/set/message_fields.hpp"
#include "runtime/wait.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::lab::mongo {

using namespace std::chrono_literals;
using runtime::awaitable;

namespace {

constexpr std::size_t most_idle = 100;
constexpr std::size_t most_hosts = 50;
constexpr duration between_looks = 50ms;
constexpr duration member_timeout = 500ms;
constexpr duration fresh_for = 10s;

}  // namespace

set_view::set_view(runtime::world& in, std::vector<std::string> seeds, runtime::tls_ptr tls,
                   std::string cluster_key)
    : world_{in},
      hosts_{std::move(seeds)},
      tls_{std::move(tls)},
      cluster_key_{std::move(cluster_key)}
{
}

awaitable<result<std::string>> set_view::find_primary(time_point until)
{
    while (primary_.empty()) {
        co_await look();
        if (!primary_.empty())
            break;
        const time_point next = world_.steady_now() + between_looks;
        if (next >= until)
            co_return refuse(133,
                             "Could not find host matching read preference { mode: "
                             "\"primary\" }");
        const auto end = co_await runtime::sleep_until(world_, next);
        if (end == runtime::wait_end::cancelled)
            co_return refuse(server_code::interrupted, "operation was interrupted");
    }
    co_return primary_;
}

awaitable<std::string> set_view::find_secondary()
{
    if (!knows_ || world_.steady_now() - looked_ > fresh_for)
        co_await look();
    if (secondaries_.empty())
        co_return std::string{};
    co_return secondaries_[turn_++ % secondaries_.size()];
}

void set_view::doubt(std::string_view host)
{
    knows_ = false;
    if (primary_ == host)
        primary_.clear();
    std::erase(secondaries_, host);
    idle_.erase(std::string{host});
}

/// Asks all of them, one after the other; each answer describes the whole set.
awaitable<void> set_view::look()
{
    looked_ = world_.steady_now();
    const auto found = std::make_shared<sight>();
    const std::vector<std::string> asked = hosts_;
    for (const std::string& host : asked)
        co_await look_at(host, found);
    primary_ = found->primary;
    secondaries_ = found->secondaries;
    knows_ = true;
}

awaitable<void> set_view::look_at(std::string host, std::shared_ptr<sight> into)
{
    const time_point until = world_.steady_now() + member_timeout;
    auto line = co_await borrow(host, until);
    if (!line)
        co_return;
    const bson::document hello = document_of(
        [](bson::builder& out) { out.add("isMaster", 1).add("$db", "admin"); });
    const auto reply = co_await (*line)->ask(hello.view(), until);
    if (!reply)
        co_return;
    if (flag_or(reply->find("ismaster"), false))
        into->primary = host;
    if (flag_or(reply->find("secondary"), false) && !flag_or(reply->find("hidden"), false))
        into->secondaries.push_back(host);
    for (const std::string_view list : {"hosts", "passives"}) {
        const bson::element all = reply->find(list);
        if (all.type() != bson::type::array)
            continue;
        for (const bson::element& one : all.as_array()) {
            const std::string_view name = text_or(one, "");
            const bool known = std::ranges::find(hosts_, name) != hosts_.end();
            if (!name.empty() && !known && hosts_.size() < most_hosts)
                hosts_.emplace_back(name);
        }
    }
    give_back(host, *std::move(line));
}

awaitable<result<std::unique_ptr<peer>>> set_view::borrow(std::string host, time_point until)
{
    auto& kept = idle_[host];
    while (!kept.empty()) {
        std::unique_ptr<peer> line = std::move(kept.back());
        kept.pop_back();
        if (!line->broken())
            co_return std::move(line);
    }
    auto where = read_address(host);
    if (!where)
        co_return std::move(where).error();
    auto made = co_await peer::connect(world_, *std::move(where), tls_, until, cluster_key_);
    co_return made;
}

void set_view::give_back(std::string_view host, std::unique_ptr<peer> line)
{
    auto& kept = idle_[std::string{host}];
    if (!line->broken() && kept.size() < most_idle)
        kept.push_back(std::move(line));
}

void set_view::close_all()
{
    idle_.clear();
}

}  // namespace holdfast::lab::mongo
