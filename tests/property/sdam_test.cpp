// Random replies and errors: whatever servers say, in whatever order, the topology stays sound.
#include "check.hpp"
#include "choices.hpp"
#include "core/mongo/sdam/application_error.hpp"
#include "core/pool/pool.hpp"
#include "holdfast/bson/errc.hpp"
#include "shell/mongo/pool/service_partition.hpp"
#include "support/verifies.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace holdfast::property::sdam_test {
namespace {

using namespace core::mongo;
using shell::mongo::partition_of;

const endpoint hosts[] = {endpoint{"a:1"}, endpoint{"b:1"}, endpoint{"c:1"}, endpoint{"d:1"},
                          endpoint{"e:1"}};

bson::object_id small_id(std::size_t n)
{
    bson::object_id id{};
    id.bytes[11] = static_cast<std::uint8_t>(n);
    return id;
}

const error trouble{bson::errc::invalid_value, "trouble"};

/// A client that hears random things, and checks after each of them what must hold.
class random_client {
public:
    explicit random_client(std::span<const std::uint8_t> bytes) : c_{bytes}
    {
        topology_settings settings;
        settings.seeds.assign(hosts, hosts + 1 + c_.below(3));
        settings.direct_connection = settings.seeds.size() == 1 && c_.one_in(8);
        if (c_.one_in(3))
            settings.replica_set = "rs";
        newer_servers_ = !c_.one_in(3);
        carry_out(open_topology(settings));
        while (!c_.used_up())
            step();
    }

private:
    void step()
    {
        now_ += std::chrono::seconds{1};
        before_ = topology_;
        if (c_.one_in(5)) {
            carry_out(any_error());
            return decide_retry();
        }
        const server_description reply = any_reply();
        carry_out(apply_check(topology_, reply));
        decide_retry();
        check_reply(reply);
    }

    address_list any_members()
    {
        std::vector<endpoint> some;
        const std::uint8_t mask = c_.byte();
        for (std::size_t i = 0; i < std::size(hosts); ++i)
            if (mask >> i & 1)
                some.push_back(hosts[i]);
        return address_list{some};
    }

    std::optional<topology_version> any_version()
    {
        if (c_.one_in(2))
            return std::nullopt;
        return topology_version{small_id(1 + c_.below(2)), static_cast<std::int64_t>(c_.below(4))};
    }

    server_description any_reply()
    {
        constexpr server_type types[] = {
            server_type::unknown,      server_type::standalone,   server_type::mongos,
            server_type::rs_ghost,     server_type::rs_other,     server_type::rs_arbiter,
            server_type::rs_secondary, server_type::rs_secondary, server_type::rs_primary,
            server_type::rs_primary,   server_type::rs_primary};
        server_description s = unknown_server(c_.pick(hosts), {}, any_version(), now_);
        s.type = c_.pick(types);
        s.round_trip_time = std::chrono::milliseconds{1};
        s.max_wire_version = newer_servers_ ? (c_.one_in(6) ? 99 : 17) : (c_.one_in(6) ? 5 : 16);
        s.min_wire_version = s.max_wire_version == 99 ? 99 : 0;
        if (c_.one_in(2))
            s.logical_session_timeout_minutes = static_cast<std::int32_t>(c_.below(4));
        const bool member = s.type == server_type::rs_primary || s.type == server_type::rs_other ||
                            s.type == server_type::rs_secondary ||
                            s.type == server_type::rs_arbiter;
        if (!member)
            return s;
        s.set_name = c_.one_in(8) ? "other" : "rs";
        s.hosts = any_members();
        if (c_.one_in(4))
            s.arbiters = any_members();
        if (c_.one_in(4))
            s.me = c_.pick(hosts);
        if (c_.one_in(4))
            s.primary = c_.pick(hosts);
        if (!c_.one_in(3))
            s.election_id = small_id(c_.below(4));
        if (!c_.one_in(3))
            s.set_version = static_cast<std::int64_t>(c_.below(4));
        return s;
    }

    transition any_error()
    {
        const endpoint server = c_.pick(hosts);
        constexpr failure_kind kinds[] = {failure_kind::network, failure_kind::timeout,
                                          failure_kind::authentication};
        constexpr connection_phase phases[] = {connection_phase::connecting,
                                               connection_phase::authenticating,
                                               connection_phase::ready};
        const failure_kind kind = c_.pick(kinds);
        if (c_.one_in(2))
            return apply_failed_check(topology_, server, trouble, kind, now_);
        const std::uint32_t current = pool(server).generation();
        const application_error e{.server = server,
                                  .kind = kind,
                                  .phase = c_.pick(phases),
                                  .generation = c_.one_in(3) && current > 0 ? current - 1 : current,
                                  .max_wire_version = 17,
                                  .cause = trouble};
        const transition t = apply_error(topology_, e, current, as_specified, now_);
        RC_ASSERT(e.generation == current || t.after == topology_);  // stale: nothing changes
        return t;
    }

    void carry_out(const transition& t)
    {
        topology_ = t.after;
        for (const effect& e : t.effects) {
            if (const auto* const x = std::get_if<start_monitor>(&e))
                RC_ASSERT(monitored_.insert(x->server).second);
            else if (const auto* const y = std::get_if<stop_monitor>(&e))
                RC_ASSERT(monitored_.erase(y->server) == 1 && pools_.erase(y->server) < 2);
            else if (const auto* const r = std::get_if<mark_pool_ready>(&e))
                pool(r->server).mark_ready(now_);
            else if (const auto* const z = std::get_if<clear_pool>(&e))
                pool(z->server).clear(z->cause, partition_of(z->service_id), z->interrupt_in_use,
                                      now_);
        }
        for (const sdam_event& e : t.events)
            note(e);
    }

    void note(const sdam_event& e)
    {
        if (const auto* const x = std::get_if<server_opening>(&e))
            received_[x->address] = server_type::unknown;
        else if (const auto* const y = std::get_if<server_closed>(&e))
            received_.erase(y->address);
        else if (const auto* const z = std::get_if<server_description_changed>(&e))
            received_[z->current->address] = z->current->type;
    }

    void decide_retry()
    {
        const auto& servers = topology_->servers;
        const auto count = [&](auto which) { return std::ranges::count_if(servers, which); };
        const auto is = [](server_type type) {
            return [type](const server_ptr& s) { return s->type == type; };
        };
        const auto primaries = count(is(server_type::rs_primary));
        RC_ASSERT(primaries <= 1);
        switch (topology_->type) {
        case topology_type::single:
            RC_ASSERT(servers.size() == 1u);
            break;
        case topology_type::sharded:
            // A ghost says nothing, so one that was there before the first mongos may stay until
            // its next check.
            RC_ASSERT(count([](const server_ptr& s) {
                          return s->type != server_type::mongos && !is_unknown(s->type) &&
                                 s->type != server_type::rs_ghost;
                      }) == 0);
            break;
        case topology_type::unknown:
            RC_ASSERT(count([](const server_ptr& s) {
                          return s->type != server_type::rs_ghost && !is_unknown(s->type);
                      }) == 0);
            break;
        case topology_type::replica_set_no_primary:
        case topology_type::replica_set_with_primary:
            RC_ASSERT((topology_->type == topology_type::replica_set_with_primary) ==
                      (primaries == 1));
            RC_ASSERT(count(is(server_type::standalone)) + count(is(server_type::mongos)) == 0);
            break;
        case topology_type::load_balanced:
            RC_FAIL("no option asked for a load balancer");
        }
        check_books();
        check_freshness();
    }

    /// Monitors, events and pools agree with the topology.
    void check_books()
    {
        std::set<endpoint> there;
        for (const server_ptr& s : topology_->servers) {
            RC_ASSERT(there.insert(s->address).second);
            RC_ASSERT(received_.contains(s->address));
            const server_type received = received_[s->address];
            RC_ASSERT(received == s->type || (is_unknown(received) && is_unknown(s->type)));
            if (is_data_bearing(s->type))
                RC_ASSERT(pool(s->address).current() == core::connection_pool::state::ready);
            RC_ASSERT(!is_unknown(s->type) || !s->round_trip_time);
        }
        RC_ASSERT(std::ranges::is_sorted(topology_->servers, {},
                                         [](const server_ptr& s) { return s->address; }));
        RC_ASSERT(there == monitored_);
        RC_ASSERT(there.size() == received_.size());
    }

    void check_freshness()
    {
        for (const server_ptr& s : topology_->servers)
            if (const server_ptr old = before_->find(s->address))
                RC_ASSERT(compare(old->version, s->version) <= 0);
        if (before_->set_name)
            RC_ASSERT((topology_->set_name == before_->set_name));
        if (newer_servers_)
            RC_ASSERT((std::tie(before_->max_election_id, before_->max_set_version) <=
                       std::tie(topology_->max_election_id, topology_->max_set_version)));
        else
            RC_ASSERT((before_->max_set_version <= topology_->max_set_version));
    }

    /// Right after a primary was accepted, only members that it names are there.
    void check_reply(const server_description& reply)
    {
        if (topology_->type == topology_type::single || reply.type != server_type::rs_primary ||
            !before_->find(reply.address) ||
            compare(before_->find(reply.address)->version, reply.version) > 0)
            return;
        const server_ptr s = topology_->find(reply.address);
        if (!s || s->type != server_type::rs_primary)
            return;
        for (const server_ptr& other : topology_->servers)
            RC_ASSERT(reply.hosts.contains(other->address.value()) ||
                      reply.arbiters.contains(other->address.value()));
        if (newer_servers_)
            RC_ASSERT((std::tie(reply.election_id, reply.set_version) ==
                       std::tie(topology_->max_election_id, topology_->max_set_version)));
    }

    core::connection_pool& pool(const endpoint& server)
    {
        return pools_.try_emplace(server, core::pool_settings{}, false).first->second;
    }

    choices c_;
    bool newer_servers_ = true;
    time_point now_{std::chrono::hours{1}};
    topology_ptr topology_, before_;
    std::set<endpoint> monitored_;
    std::map<endpoint, server_type> received_;
    std::map<endpoint, core::connection_pool> pools_;
};

TEST(sdam_property, random_replies_keep_the_topology_invariants)
{
    VERIFIES("SD-063");
    check([] { random_client{*any_choices()}; });
}

}  // namespace
}  // namespace holdfast::property::sdam_test
