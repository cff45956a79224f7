#pragma once
#include "tools/holdfast/drill/client.hpp"
#include "tools/holdfast/drill/couchbase/client.hpp"
#include "tools/holdfast/drill/couchbase/listener.hpp"

#include <memory>
#include <string>
#include <vector>

namespace holdfast::drill {

struct couchbase_connector_options {
    std::string uri = {};
    std::string user = {};
    std::string password = {};
    couchbase_client_options client = {};
};

/// Clients of one Couchbase cluster.
class couchbase_connector final : public connector {
public:
    explicit couchbase_connector(couchbase_connector_options options);

    result<client_ptr> connect(runtime::world& in) override;
    result<client_ptr> connect_reader(runtime::world& in) override { return connect(in); }
    const client_counts& counts() const noexcept override { return counts_; }
    std::string leader() const override;

private:
    couchbase_connector_options options_;
    client_counts counts_;
    std::vector<couchbase::cluster> made_;
};

}  // namespace holdfast::drill
