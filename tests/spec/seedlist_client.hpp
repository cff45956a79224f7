#pragma once
#include "core/mongo/sdam/topology_description.hpp"
#include "core/mongo/uri/uri.hpp"
#include "net/world.hpp"
#include "seedlist_servers.hpp"
#include "support/dns_stub.hpp"

#include <boost/asio/io_context.hpp>

#include <memory>
#include <string_view>

namespace holdfast::spec {

/// A client on real sockets, as far as there is one, whose name server is a stub. It looks up its
/// seeds and talks to servers by the code of the library; what the answers mean for its topology is
/// said by core/mongo/sdam.
class seedlist_client {
public:
    seedlist_client();
    ~seedlist_client();

    /// What becomes of a connection string once its names have been looked up.
    result<core::mongo::parsed_uri> resolve(std::string_view uri);

    /// Checks every server of the topology and those that they name; throws case_failure if one
    /// does not answer. Then a ping, if it is wanted.
    core::mongo::topology_ptr discover(const core::mongo::client_settings& settings,
                                       deployment behind, bool with_ping);

private:
    template <class T>
    T run(runtime::awaitable<T> what);

    runtime::awaitable<core::mongo::topology_ptr> visit(core::mongo::client_settings settings,
                                                        bool with_ping);

    proof::dns_stub names_;
    // The context goes first: whatever still waits on it is dropped while the world is there.
    std::unique_ptr<net::async_world> world_;
    std::unique_ptr<boost::asio::io_context> context_;
};

}  // namespace holdfast::spec
