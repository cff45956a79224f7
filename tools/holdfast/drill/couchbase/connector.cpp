#include "tools/holdfast/drill/couchbase/connector.hpp"

#include <utility>

namespace holdfast::drill {

couchbase_connector::couchbase_connector(couchbase_connector_options options)
    : options_{std::move(options)}
{
}

result<client_ptr> couchbase_connector::connect(runtime::world& in)
{
    couchbase::password login;
    login.user = options_.user;
    login.text = secret{options_.password};
    couchbase::cluster_options settings;
    settings.authenticator = std::move(login);
    settings.listeners.push_back(std::make_shared<couchbase_listener>(counts_));
    auto made = couchbase::cluster::create(in.executor(), options_.uri, std::move(settings));
    if (!made)
        return std::move(made).error();
    made_.push_back(*made);
    return client_ptr{std::make_shared<couchbase_client>(in, *std::move(made), options_.client)};
}

/// There is none, but how many nodes the first client is connected to is worth a look.
std::string couchbase_connector::leader() const
{
    if (made_.empty())
        return {};
    std::size_t connected = 0;
    for (const auto& one : made_.front().diagnostics().key_value)
        connected += !one.bucket.empty() && one.state == couchbase::endpoint_state::connected;
    return connected == 0 ? std::string{} : std::to_string(connected) + " nodes";
}

}  // namespace holdfast::drill
