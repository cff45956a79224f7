#pragma once
#include "api/couchbase/cluster_impl.hpp"
#include "client/couchbase/kv_scene.hpp"
#include "client/couchbase/scripted_operation.hpp"
#include "shell/couchbase/execute/execute_http.hpp"
#include "shell/couchbase/execute/row_stream.hpp"
#include "support/scripted_http.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::proof {

/// Data nodes of the lab with scripted services beside them: node n's query service is at port 8093
/// of its host, unless it has none.
class service_scene : public kv_scene {
public:
    using kv_scene::kv_scene;

    static constexpr std::uint16_t query_port = 8093;

    /// Starts a service on a node and announces it in the configuration.
    scripted_http& serve(std::size_t node, scripted_http::script what,
                         const std::string& name = "n1ql", std::uint16_t port = query_port)
    {
        auto made = std::make_unique<scripted_http>(std::move(what));
        scripted_http& one = *made;
        sim::host& on = host_of(node);
        on.start(one.serve_at(on.world(), {on.name(), port}));
        services_.push_back(std::move(made));
        cluster->set_service(node, name, port);
        return one;
    }

    const std::shared_ptr<shell::couchbase::cluster_state>& state() const
    {
        return couchbase::access::impl_of(*client)->state;
    }
    kv_run<shell::couchbase::whole_reply> start_request(const service_wish& wish = {})
    {
        return start(
            shell::couchbase::execute_http(state(), service_call_of(wish, simulation.now())));
    }
    kv_run<shell::couchbase::whole_reply> request(const service_wish& wish = {})
    {
        auto made = start_request(wish);
        finish([&] { return made->done(); });
        return made;
    }
    std::shared_ptr<shell::couchbase::row_stream> rows(const service_wish& wish = {})
    {
        return std::make_shared<shell::couchbase::row_stream>(
            state(), service_call_of(wish, simulation.now()), "results");
    }
    std::string address(std::size_t node) const
    {
        return hosts.at(node)->name() + ":" + std::to_string(query_port);
    }

private:
    std::vector<std::unique_ptr<scripted_http>> services_;
};

}  // namespace holdfast::proof
