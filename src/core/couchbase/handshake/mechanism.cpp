#include "core/couchbase/handshake/mechanism.hpp"

#include <algorithm>

namespace holdfast::core::couchbase {

std::string_view name_of(sasl_mechanism which) noexcept
{
    switch (which) {
    case sasl_mechanism::scram_sha512:
        return "SCRAM-SHA512";
    case sasl_mechanism::scram_sha256:
        return "SCRAM-SHA256";
    case sasl_mechanism::scram_sha1:
        return "SCRAM-SHA1";
    case sasl_mechanism::plain:
        return "PLAIN";
    case sasl_mechanism::oauthbearer:
        return "OAUTHBEARER";
    }
    return "unknown";
}

std::optional<sasl::scram_hash> hash_of(sasl_mechanism which) noexcept
{
    switch (which) {
    case sasl_mechanism::scram_sha512:
        return sasl::scram_hash::sha_512;
    case sasl_mechanism::scram_sha256:
        return sasl::scram_hash::sha_256;
    case sasl_mechanism::scram_sha1:
        return sasl::scram_hash::sha_1;
    case sasl_mechanism::plain:
    case sasl_mechanism::oauthbearer:
        break;
    }
    return std::nullopt;
}

bool offers(std::string_view list, sasl_mechanism which) noexcept
{
    while (!list.empty()) {
        const std::size_t space = std::min(list.find(' '), list.size());
        if (list.substr(0, space) == name_of(which))
            return true;
        list.remove_prefix(std::min(space + 1, list.size()));
    }
    return false;
}

std::optional<sasl_mechanism> choose_mechanism(std::span<const sasl_mechanism> ours,
                                               std::string_view list) noexcept
{
    const auto found = std::ranges::find_if(
        ours, [&](sasl_mechanism which) { return offers(list, which); });
    return found == ours.end() ? std::nullopt : std::optional{*found};
}

}  // namespace holdfast::core::couchbase
