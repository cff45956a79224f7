#include "api/mongo/client_impl.hpp"
#include "core/mongo/error/errc.hpp"

#include <string>
#include <utility>
#include <vector>

namespace holdfast::mongo {

namespace {

error refused(const std::vector<std::string>& warnings)
{
    std::string text = "the connection string is not accepted with client_options::strict: ";
    for (const std::string& one : warnings) {
        if (&one != &warnings.front())
            text += "; ";
        text += one;
    }
    return error{core::mongo::errc::invalid_option, std::move(text)}.with_context("option",
                                                                                  "strict");
}

}  // namespace

result<void> check(const core::mongo::parsed_uri& from, const client_options& options)
{
    if (options.strict && !from.warnings.empty())
        return refused(from.warnings);
    if (from.settings.proxy.host)
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
