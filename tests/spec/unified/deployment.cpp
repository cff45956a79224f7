#include "deployment.hpp"

#include "lab_in_sim.hpp"
#include "lab_on_sockets.hpp"
#include "support/canary.hpp"

#include <algorithm>
#include <cctype>

namespace holdfast::spec::unified {
namespace {

bool same_name(std::string_view a, std::string_view b)
{
    return std::ranges::equal(
        a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::string escaped(std::string_view text)
{
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string made;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (std::isalnum(byte) || std::string_view{"-._~:,"}.find(c) != std::string_view::npos)
            made += c;
        else
            made.append({'%', digits[byte >> 4U], digits[byte & 15U]});
    }
    return made;
}

}  // namespace

std::string describe(const lab_kind& which)
{
    return text_of(which.what) + (which.simulated ? ", simulated" : ", on sockets");
}

std::unique_ptr<deployment> deployment::start(const lab_kind& what)
{
    return what.simulated ? start_in_sim(what) : start_on_sockets(what);
}

std::string deployment::uri(bool several_routers, const uri_options& more) const
{
    uri_options fixed;
    if (kind().what.topology == topology_kind::replica_set)
        fixed.emplace_back("replicaSet", "rs0");
    if (kind().what.topology == topology_kind::load_balanced)
        fixed.emplace_back("loadBalanced", "true");
    const bool direct = std::ranges::any_of(more, [](const auto& one) {
        return same_name(one.first, "directConnection") && one.second == "true";
    });
    const bool one_of_them = direct && kind().what.topology == topology_kind::replica_set;
    return uri_of(one_of_them ? nodes().front() : hosts(several_routers), std::move(fixed), more);
}

std::string deployment::direct_uri(std::string_view node) const
{
    uri_options fixed;
    if (kind().what.topology == topology_kind::single ||
        kind().what.topology == topology_kind::replica_set)
        fixed.emplace_back("directConnection", "true");
    return uri_of(node, std::move(fixed), {});
}

std::string deployment::uri_of(std::string_view hosts, uri_options fixed,
                               const uri_options& more) const
{
    if (kind().what.auth)
        fixed.emplace_back("authSource", "admin");
    std::erase_if(fixed, [&](const auto& one) {
        return std::ranges::any_of(
            more, [&](const auto& wins) { return same_name(one.first, wins.first); });
    });
    fixed.insert(fixed.end(), more.begin(), more.end());  // one may be there more than once
    std::string made = "mongodb://";
    if (kind().what.auth)
        made.append(proof::canary::user).append(":").append(proof::canary::password).append("@");
    made.append(hosts).append("/");
    char before = '?';
    for (const auto& [name, value] : fixed) {
        made += before;
        made.append(name).append("=").append(escaped(value));
        before = '&';
    }
    return made;
}

}  // namespace holdfast::spec::unified
