#pragma once
#include "runtime/world.hpp"
#include "support/scripted_server.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::spec {

/// What stands behind the ports that the records name, as the specification's test set-up says.
enum class deployment {
    replica_set,    // "repl0", of localhost:27017, 27018 and 27019
    sharded,        // routers at 27017 and 27018
    load_balanced,  // routers at the ports of the seeds
};

/// A certificate for localhost and for the names of the zone, signed by itself: the path of a file
/// that holds it and its key, made once per process.
const std::string& seedlist_certificate();

/// Servers that know hello and ping, at the ports that the records name. Those must be free on this
/// machine; throws case_failure if they are not after a while.
class seedlist_servers {
public:
    /// Without TLS if `tls` is null.
    seedlist_servers(runtime::world& in, deployment what, std::vector<std::uint16_t> seed_ports,
                     runtime::tls_ptr tls);
    ~seedlist_servers();

    /// Takes no more connections.
    void stop();

private:
    class doorway;
    struct one;
    std::vector<std::unique_ptr<one>> all_;
};

}  // namespace holdfast::spec
