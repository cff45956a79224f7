#pragma once
#include "core/mongo/settings/client_settings.hpp"
#include "core/mongo/uri/connection_string.hpp"
#include "holdfast/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::core::mongo {

/// A parsed connection string. Neither warnings nor errors hold a user name, a password or any
/// other value; they name options, and what is allowed for them.
struct parsed_uri {
    client_settings settings;
    std::vector<std::string> warnings;
    connection_string source;  // for resolve_srv()
};

/// Parses mongodb:// and mongodb+srv:// without asking anybody. The latter leaves `seeds` empty and
/// `srv` set: look up the records of srv_query_name() and the TXT records of `srv->host`, then
/// resolve_srv().
result<parsed_uri> parse_uri(std::string_view text);

/// "_mongodb._tcp.cluster.example.com"
std::string srv_query_name(const srv_settings& srv);

struct srv_target {
    std::string host;
    std::uint16_t port = 0;
};

/// The reply of the name server.
struct srv_answer {
    /// In an order drawn by the caller, for the first `srvMaxHosts` of them become the seeds.
    std::vector<srv_target> targets;
    std::vector<std::string> txt;  // one per record, its strings put together
};

/// The same string with seeds, and with the options of the TXT record where it has none of its own;
/// validated again as a whole. `warnings` are all there are, the earlier ones too.
result<parsed_uri> resolve_srv(const parsed_uri& unresolved, const srv_answer& answer);

/// Whether a host found under `srv_host` may be trusted: it must lie in the same domain. Holds for
/// the first look-up and for each later one.
bool shares_domain(std::string_view srv_host, std::string_view found) noexcept;

}  // namespace holdfast::core::mongo
