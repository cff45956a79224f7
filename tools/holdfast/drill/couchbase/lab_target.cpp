#include "tools/holdfast/drill/couchbase/lab_target.hpp"

#include "core/couchbase/wire/kv_protocol.hpp"
#include "runtime/wait.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace holdfast::drill {

namespace {

constexpr const char* host = "127.0.0.1";
constexpr std::chrono::milliseconds last_moments{20};

/// What applications ask for, not connections or other nodes.
constexpr bool is_of_clients(core::couchbase::kv_opcode opcode) noexcept
{
    using core::couchbase::kv_opcode;
    return opcode == kv_opcode::get || opcode == kv_opcode::upsert || opcode == kv_opcode::insert ||
           opcode == kv_opcode::replace || opcode == kv_opcode::increment;
}

runtime::awaitable<void> keep(runtime::awaitable<result<void>> what,
                              std::optional<result<void>>& into)
{
    auto outcome = co_await std::move(what);
    into.emplace(std::move(outcome));
}

/// The replies of a node's last moments are lost with it, as when its network goes first: what it
/// has done by then its clients cannot know. Without that, a crash in which no write is in doubt
/// is a matter of luck, and shows nothing.
runtime::awaitable<result<void>> crash_node(lab::couchbase::cluster& of, runtime::world& world,
                                            std::size_t member)
{
    constexpr const char* name = "lost replies";
    lab::couchbase::kv_fault_plan::entry entry;
    entry.effect.silent = true;
    entry.when = lab::activation::always();
    entry.chooses = [](const lab::couchbase::kv_target& one) { return is_of_clients(one.opcode); };
    of.at(member).faults.set(name, std::move(entry));
    (void)co_await runtime::sleep_until(world, world.steady_now() + last_moments);
    co_await of.crash(member);
    of.at(member).faults.remove(name);
    co_return result<void>{};
}

}  // namespace

couchbase_lab_target::couchbase_lab_target(const couchbase_lab_options& options) : options_{options}
{
}

couchbase_lab_target::~couchbase_lab_target()
{
    if (!servers_)
        return;
    loop_.run(servers_->stop());
    loop_.call([this] { servers_.reset(); });
}

result<std::unique_ptr<couchbase_lab_target>> couchbase_lab_target::start(
    const couchbase_lab_options& options)
{
    std::unique_ptr<couchbase_lab_target> made{new couchbase_lab_target{options}};
    lab::couchbase::cluster_options planned;
    for (std::size_t n = 0; n != options.nodes; ++n) {
        const auto port = static_cast<std::uint16_t>(options.port == 0 ? 0 : options.port + n);
        planned.nodes.push_back({&made->loop_.world(), host, host, port});
    }
    planned.buckets = {bucket};
    planned.replicas = options.replicas;
    planned.user = user;
    planned.password = password;
    result<void> started;
    made->loop_.call([&] {
        auto servers = std::make_unique<lab::couchbase::cluster>(std::move(planned));
        started = servers->start();
        if (started)
            made->servers_ = std::move(servers);
    });
    if (!started)
        return std::move(started).error();
    for (std::size_t n = 0; n != options.nodes; ++n)
        made->uri_ += (n == 0 ? "couchbase://" : ",") + made->servers_->address(n);
    return made;
}

result<void> couchbase_lab_target::run(runtime::awaitable<result<void>> what)
{
    std::optional<result<void>> outcome;
    loop_.run(keep(std::move(what), outcome));
    return outcome.value_or(result<void>{});
}

result<void> couchbase_lab_target::call(const std::function<result<void>()>& what)
{
    result<void> outcome;
    loop_.call([&] { outcome = what(); });
    return outcome;
}

bool couchbase_lab_target::supports(fault kind) const noexcept
{
    return kind != fault::step_down;
}

/// Each member in its turn: none leads the others.
result<std::size_t> couchbase_lab_target::await_leader()
{
    std::size_t chosen = 0;
    loop_.call([&] {
        const std::size_t all = servers_->nodes();
        for (std::size_t tries = 0; tries != all; ++tries) {
            chosen = turn_++ % all;
            if (servers_->is_member(chosen) && servers_->is_running(chosen))
                return;
        }
    });
    return chosen;
}

result<void> couchbase_lab_target::crash(std::size_t member)
{
    return run(crash_node(*servers_, loop_.world(), member));
}

result<void> couchbase_lab_target::restart(std::size_t member)
{
    return call([&] { return servers_->restart(member); });
}

result<void> couchbase_lab_target::freeze(std::size_t member)
{
    loop_.call([&] { servers_->freeze(member, true); });
    return {};
}

result<void> couchbase_lab_target::thaw(std::size_t member)
{
    loop_.call([&] { servers_->freeze(member, false); });
    return {};
}

result<void> couchbase_lab_target::fail_over(std::size_t member)
{
    promoted_ = true;
    return call([&] { return servers_->fail_over(member); });
}

result<void> couchbase_lab_target::fail_over_gracefully(std::size_t member)
{
    return run(servers_->fail_over_gracefully(member));
}

result<void> couchbase_lab_target::add_node()
{
    return call([&]() -> result<void> {
        auto added = servers_->add_node({&loop_.world(), host, host, 0});
        if (!added)
            return std::move(added).error();
        return {};
    });
}

result<void> couchbase_lab_target::replace_lost()
{
    return rebalance_in();
}

result<void> couchbase_lab_target::rebalance_in()
{
    if (auto added = add_node(); !added)
        return added;
    return run(servers_->rebalance());
}

result<void> couchbase_lab_target::rebalance_out(std::size_t member)
{
    return run(servers_->remove_node(member));
}

result<void> couchbase_lab_target::limit_requests(std::int32_t per_second)
{
    // Requests beyond the rate are refused; counted by the lab's clock, in tenths of a second.
    loop_.call([&] {
        for (std::size_t n = 0; n != servers_->nodes(); ++n) {
            lab::couchbase::kv_fault_plan::entry entry;
            entry.effect.error_code = static_cast<int>(
                core::couchbase::kv_status::temporary_failure);
            const std::int32_t share = std::max(
                per_second / 10 / static_cast<std::int32_t>(options_.nodes), 1);
            entry.chooses = [this, share, left = share,
                             since = time_point{}](const lab::couchbase::kv_target& one) mutable {
                if (!is_of_clients(one.opcode))
                    return false;
                const time_point now = loop_.world().steady_now();
                if (now - since >= std::chrono::milliseconds{100}) {
                    since = now;
                    left = share;
                }
                return left-- <= 0;
            };
            entry.when = per_second > 0 ? lab::activation::always() : lab::activation{};
            servers_->at(n).faults.set("overload", std::move(entry));
        }
    });
    return {};
}

}  // namespace holdfast::drill
