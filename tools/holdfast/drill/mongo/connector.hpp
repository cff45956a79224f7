#pragma once
#include "tools/holdfast/drill/client.hpp"
#include "tools/holdfast/drill/mongo/client.hpp"
#include "tools/holdfast/drill/mongo/watcher.hpp"

#include <memory>
#include <string>
#include <vector>

namespace holdfast::drill {

struct mongo_connector_options {
    std::string uri = {};
    bool retryable_writes = true;
    mongo_client_options client = {};
};

/// Clients of one MongoDB deployment.
class mongo_connector final : public connector {
public:
    explicit mongo_connector(mongo_connector_options options);

    result<client_ptr> connect(runtime::world& in) override;
    result<client_ptr> connect_reader(runtime::world& in) override;
    const client_counts& counts() const noexcept override { return counts_; }
    std::string leader() const override;

private:
    result<client_ptr> connect_to(const std::string& uri, runtime::world& in);

    mongo_connector_options options_;
    client_counts counts_;
    std::vector<std::shared_ptr<watcher>> watchers_;
};

}  // namespace holdfast::drill
