#pragma once
#include "core/mongo/sdam/application_error.hpp"
#include "core/mongo/settings/profile.hpp"
#include "core/pool/pool.hpp"

#include <map>
#include <string_view>
#include <vector>

namespace holdfast::spec {

/// As much of a client as the SDAM files are about: a topology and the pools of its servers, both
/// pure. Effects are carried out as the shell would, so that generations are those of real pools.
class sdam_client {
public:
    sdam_client(std::string_view uri, const core::mongo::resilience_profile& profile);

    const core::mongo::topology_description& topology() const noexcept { return *topology_; }

    /// Nothing for a server that never had a pool.
    const core::connection_pool* pool(const endpoint& server) const;

    /// The answer of a monitor's check; an empty one means that the check failed in the network.
    void hear(const endpoint& from, bson::view reply);

    /// `generation` of the connection; if none is given, that of the pool.
    void fail(core::mongo::application_error e, std::optional<std::uint32_t> generation);

    /// Events that were emitted since the last call.
    std::vector<core::mongo::sdam_event> take_events() { return std::exchange(events_, {}); }

private:
    void carry_out(core::mongo::transition t);
    void perform(const core::mongo::start_monitor& e);
    void perform(const core::mongo::stop_monitor& e);
    void perform(const core::mongo::mark_pool_ready& e);
    void perform(const core::mongo::clear_pool& e);
    void perform(const core::mongo::request_check&) {}  // the file says when checks happen
    void perform(const core::mongo::cancel_check&) {}
    void perform(const core::mongo::warn&) {}
    void perform(const core::mongo::release_operations&) {}
    core::connection_pool& pool_of(const endpoint& server);

    core::mongo::resilience_profile profile_;
    core::mongo::topology_ptr topology_;
    std::map<endpoint, core::connection_pool> pools_;
    std::vector<core::mongo::sdam_event> events_;
    time_point now_{std::chrono::hours{1}};
};

}  // namespace holdfast::spec
