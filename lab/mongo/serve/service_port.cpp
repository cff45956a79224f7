#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/serve/conversation.hpp"
#include "lab/mongo/serve/service.hpp"

#include <memory>
#include <string>
#include <utility>

namespace holdfast::lab::mongo {

error service::concern_failure(const request&)
{
    return refuse(server_code::interrupted_due_to_repl_state_change, "operation was interrupted");
}

namespace {

struct connection_facts {
    client_facts facts;
};

/// A conversation with the facts that it refers to.
class port_conversation final : private connection_facts, public conversation {
public:
    port_conversation(runtime::world& in, service& with, std::string peer, bool balancer)
        : conversation{in, with, facts}
    {
        facts.peer = std::move(peer);
        facts.at_balancer_port = balancer;
        facts.connection = with.opened();
    }
};

class service_acceptor final : public acceptor {
public:
    service_acceptor(service& with, bool balancer) noexcept : service_{with}, balancer_{balancer} {}

    bool admits() override { return service_.admits(); }
    std::unique_ptr<lab::conversation> accept(runtime::world& in, std::string peer) override
    {
        return std::make_unique<port_conversation>(in, service_, std::move(peer), balancer_);
    }
    runtime::event& news() override { return service_.news(); }

private:
    service& service_;
    const bool balancer_;
};

}  // namespace

result<std::unique_ptr<open_port>> open_service_port(runtime::world& in, service& with,
                                                     service_port_options options)
{
    return open_port::open(in, std::make_unique<service_acceptor>(with, options.balancer),
                           {.where = std::move(options.where), .tls = std::move(options.tls)});
}

}  // namespace holdfast::lab::mongo
