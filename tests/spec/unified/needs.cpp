#include "needs.hpp"

#include "features.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace holdfast::spec::unified {
namespace {

using bson::element;
using bson::type;

struct topology_names {
    topology_kind is;
    std::string_view in_files;
    std::string_view on_command_line;
    std::string_view for_people;
};
constexpr topology_names topologies[] = {
    {topology_kind::replica_set, "replicaset", "replica_set", "replica set"},
    {topology_kind::single, "single", "single", "single server"},
    {topology_kind::sharded, "sharded", "sharded", "sharded cluster"},
    {topology_kind::load_balanced, "load-balanced", "load_balanced", "load-balanced cluster"},
};
constexpr server_version versions[] = {{8, 2, 0}, {4, 2, 0}};

/// Parameters of the servers that a file may ask about, as the lab has them.
struct parameter {
    std::string_view name;
    bool value;
};
constexpr parameter parameters[] = {
    {"enableTestCommands", true},
    {"requireApiVersion", false},
    {"acceptApiVersion2", false},
};

const topology_names& names_of(topology_kind kind)
{
    return *std::ranges::find(topologies, kind, &topology_names::is);
}

/// Servers behind a load balancer are known from 5.0 on only.
bool exists(topology_kind topology, const server_version& version)
{
    return topology != topology_kind::load_balanced || version >= server_version{5, 0, 0};
}

/// All that the lab offers; the first one that will do is taken. Without auth before with auth,
/// and the newest version first.
std::vector<deployment_kind> offers()
{
    std::vector<deployment_kind> all;
    for (const server_version& version : versions)
        for (const bool auth : {false, true})
            for (const topology_names& topology : topologies)
                if (exists(topology.is, version))
                    all.push_back({topology.is, auth, version});
    return all;
}

bool has_parameters(bson::view wanted)
{
    return std::ranges::all_of(wanted, [](const element& one) {
        const auto* const known = std::ranges::find(parameters, one.key(), &parameter::name);
        return known != std::end(parameters) && one.type() == type::boolean &&
               one.as_bool() == known->value;
    });
}

bool meets(const deployment_kind& offer, const requirement& clause)
{
    if (clause.needs_serverless || clause.needs_encryption.value_or(false))
        return false;
    if (clause.at_least && offer.version < *clause.at_least)
        return false;
    if (clause.at_most && offer.version > *clause.at_most)
        return false;
    if (clause.auth && *clause.auth != offer.auth)
        return false;
    if (clause.auth_mechanism && (!offer.auth || !knows_mechanism(*clause.auth_mechanism)))
        return false;
    if (!has_parameters(clause.parameters))
        return false;
    return clause.topologies.empty() ||
           std::ranges::any_of(clause.topologies, [&](std::string_view name) {
               return name == names_of(offer.topology).in_files ||
                      (name == "sharded-replicaset" && offer.topology == topology_kind::sharded);
           });
}

bool meets_one(const deployment_kind& offer, std::span<const requirement> clauses)
{
    return clauses.empty() || std::ranges::any_of(clauses, [&](const requirement& clause) {
               return meets(offer, clause);
           });
}

std::string to_text(const requirement& clause)
{
    std::string text;
    const auto add = [&](const std::string& more) {
        text.append(text.empty() ? "" : ", ").append(more);
    };
    if (clause.at_least)
        add("from " + text_of(*clause.at_least));
    if (clause.at_most)
        add("up to " + text_of(*clause.at_most));
    for (const std::string& name : clause.topologies)
        add(name);
    if (clause.auth)
        add(*clause.auth ? "with auth" : "without auth");
    if (clause.auth_mechanism)
        add(*clause.auth_mechanism);
    if (clause.needs_serverless)
        add("serverless");
    if (clause.needs_encryption.value_or(false))
        add("client-side encryption");
    for (const element& one : clause.parameters)
        add("parameter " + std::string{one.key()});
    return text;
}

std::string to_text(std::span<const requirement> clauses)
{
    std::string text;
    for (const requirement& clause : clauses)
        text.append(text.empty() ? "" : "; or ").append(to_text(clause));
    return text;
}

not_run no_deployment(const unified_file& file, const unified_case& one)
{
    std::string text = to_text(file.run_on);
    if (!one.run_on.empty())
        text.append(text.empty() ? "" : "; and also ").append(to_text(one.run_on));
    return {"no deployment of the lab is what it needs: " + text};
}

}  // namespace

std::string text_of(const deployment_kind& kind)
{
    std::string text{names_of(kind.topology).for_people};
    text.append(" ").append(std::to_string(kind.version.major));
    text.append(".").append(std::to_string(kind.version.minor));
    return text.append(kind.auth ? " with auth" : "");
}

std::variant<deployment_kind, not_run> deployment_for(const unified_file& file,
                                                      const unified_case& one,
                                                      std::string_view topology)
{
    if (one.skip_reason)
        return not_run{"its file says: " + *one.skip_reason};
    if (const auto missing = missing_feature(file, one))
        return not_run{"not in the library yet: " + *missing};
    bool elsewhere = false;
    for (const deployment_kind& offer : offers()) {
        if (!meets_one(offer, file.run_on) || !meets_one(offer, one.run_on))
            continue;
        if (topology == "any" || topology == names_of(offer.topology).on_command_line)
            return offer;
        elsewhere = true;
    }
    if (elsewhere)
        return not_run{"not for the topology that was asked for"};
    return no_deployment(file, one);
}

std::vector<std::string_view> topologies_for(const unified_file& file, const unified_case& one)
{
    std::vector<std::string_view> found;
    for (const topology_names& each : topologies) {
        const auto chosen = deployment_for(file, one, each.on_command_line);
        if (std::holds_alternative<deployment_kind>(chosen))
            found.push_back(each.on_command_line);
    }
    return found;
}

}  // namespace holdfast::spec::unified
