#include "api/mongo/client_impl.hpp"
#include "core/mongo/error/errc.hpp"

namespace holdfast::mongo {

result<void> check(const core::mongo::client_settings& settings, const client_options& options)
{
    if (settings.proxy.host)
        return error{core::mongo::errc::invalid_option,
                     "proxyHost: this version cannot go through a proxy; connect directly"}
            .with_context("option", "proxyHost");
    if (options.server_api && options.server_api->version != "1")
        return error{core::mongo::errc::invalid_option,
                     "server_api: version \"" + options.server_api->version +
                         "\" is not known; the only one is \"1\""}
            .with_context("option", "server_api");
    return {};
}

}  // namespace holdfast::mongo
