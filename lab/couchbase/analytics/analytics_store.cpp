#include "lab/couchbase/analytics/analytics_store.hpp"

#include "lab/couchbase/n1ql/query_error.hpp"

namespace holdfast::lab::couchbase {

namespace {

namespace json = n1ql::json;
using n1ql::text;
using verb = n1ql::dataset_statement::verb;

constexpr std::string_view default_dataverse = "Default";
constexpr std::size_t most_datasets = 10'000;

std::string with_slashes(const std::vector<std::string>& parts, std::size_t count)
{
    std::string made;
    for (std::size_t n = 0; n != count; ++n)
        made += (n == 0 ? "" : "/") + parts[n];
    return made;
}

json::object dataset_row(const dataset_name& name, const n1ql::keyspace& of)
{
    return {{"DataverseName", text(name.first)},
            {"DatasetName", text(name.second)},
            {"DatasetType", "INTERNAL"},
            {"LinkName", "Local"},
            {"BucketName", text(of.bucket)},
            {"ScopeName", text(of.scope)},
            {"CollectionName", text(of.collection)}};
}

json::object analytics_index_row(const dataset_name& of, const std::string& name, bool primary)
{
    return {{"IndexName", text(name)},
            {"DataverseName", text(of.first)},
            {"DatasetName", text(of.second)},
            {"IsPrimary", primary}};
}

}  // namespace

error refuse(analytics_code code, std::string message)
{
    return n1ql::refuse(static_cast<std::int32_t>(code), std::move(message));
}

analytics_definitions& analytics_definitions_of(cluster& of)
{
    return of.admin().definitions<analytics_definitions>("cbas");
}

/// With the dataverse of the context, or the default one, if none is named.
dataset_name analytics_store::full_name(const std::vector<std::string>& parts) const
{
    if (parts.size() > 1)
        return {with_slashes(parts, parts.size() - 1), parts.back()};
    const auto& context = by().context;
    return {context ? with_slashes(context->parts, context->parts.size())
                    : std::string{default_dataverse},
            parts.back()};
}

result<n1ql::keyspace> analytics_store::find(const n1ql::keyspace_name& name, n1ql::purpose what)
{
    const dataset_name wanted = full_name(name.parts);
    const auto& known = definitions().datasets;
    if (const auto found = known.find(wanted); found != known.end())
        return checked(found->second, what);
    auto direct = cluster_store::find(name, what);
    const bool missing = !direct && n1ql::code_of(direct.error()) !=
                                        static_cast<int>(n1ql::query_code::no_credentials);
    if (missing)
        return refuse(analytics_code::dataset_not_found,
                      "Cannot find dataset " + wanted.second + " in dataverse " + wanted.first +
                          " nor an alias with name " + wanted.second + "!");
    return direct;
}

bool analytics_store::is_catalog(const n1ql::keyspace_name& name) const
{
    return name.parts.size() == 2 && name.parts[0] == "Metadata";
}

result<json::array> analytics_store::catalog_rows(const n1ql::keyspace_name& name)
{
    const analytics_definitions& all = definitions();
    json::array rows;
    if (name.parts[1] == "Dataverse") {
        for (const std::string& one : all.dataverses)
            rows.push_back(json::object{{"DataverseName", text(one)}});
    } else if (name.parts[1] == "Dataset") {
        for (const auto& [dataset, of] : all.datasets)
            rows.push_back(dataset_row(dataset, of));
    } else if (name.parts[1] == "Index") {
        for (const auto& [dataset, of] : all.datasets)
            rows.push_back(analytics_index_row(dataset, dataset.second, true));
        for (const auto& [dataset, names] : all.indexes) {
            for (const std::string& one : names)
                rows.push_back(analytics_index_row(dataset, one, false));
        }
    } else {
        return refuse(analytics_code::dataset_not_found,
                      "Cannot find dataset " + name.parts[1] +
                          " in dataverse Metadata nor an alias with name " + name.parts[1] + "!");
    }
    return rows;
}

result<void> analytics_store::change_datasets(const n1ql::dataset_statement& what)
{
    switch (what.what) {
    case verb::create_dataverse:
    case verb::drop_dataverse: return change_dataverse(what);
    case verb::create_dataset:
    case verb::drop_dataset: return change_dataset(what);
    case verb::create_index:
    case verb::drop_index: return change_index(what);
    case verb::connect_link:
    case verb::disconnect_link: break;
    }
    if (what.name.back() != "Local")
        return refuse(analytics_code::link_not_found,
                      "Link " + what.name.back() + " does not exist");
    return {};
}

result<void> analytics_store::change_dataverse(const n1ql::dataset_statement& what)
{
    analytics_definitions& all = definitions();
    const std::string name = with_slashes(what.name, what.name.size());
    if (what.what == verb::create_dataverse) {
        const bool made = all.dataverses.size() < most_datasets &&
                          all.dataverses.insert(name).second;
        if (!made && !what.if_not_exists)
            return refuse(analytics_code::dataverse_exists,
                          "A dataverse with this name " + name + " already exists.");
        return {};
    }
    if (all.dataverses.erase(name) == 0 && !what.if_exists)
        return refuse(analytics_code::dataverse_missing, "Cannot find dataverse with name " + name);
    std::erase_if(all.datasets, [&](const auto& one) { return one.first.first == name; });
    std::erase_if(all.indexes, [&](const auto& one) { return one.first.first == name; });
    return {};
}

result<void> analytics_store::change_dataset(const n1ql::dataset_statement& what)
{
    analytics_definitions& all = definitions();
    const dataset_name name = full_name(what.name);
    if (what.what == verb::drop_dataset) {
        all.indexes.erase(name);
        if (all.datasets.erase(name) == 0 && !what.if_exists)
            return refuse(analytics_code::dataset_missing, "Cannot find dataset with name " +
                                                               name.second + " in dataverse " +
                                                               name.first);
        return {};
    }
    if (what.on.parts == what.name)  // ALTER COLLECTION makes its dataverse, too
        all.dataverses.insert(name.first);
    if (!all.dataverses.contains(name.first))
        return refuse(analytics_code::dataverse_missing,
                      "Cannot find dataverse with name " + name.first);
    const auto on = cluster_store::find(what.on, n1ql::purpose::read);
    if (!on)
        return error{on.error()};
    if (all.datasets.contains(name) || all.datasets.size() == most_datasets) {
        if (what.if_not_exists)
            return {};
        return refuse(analytics_code::dataset_exists, "A dataset with name " + name.second +
                                                          " already exists in dataverse " +
                                                          name.first);
    }
    all.datasets[name] = *on;
    return {};
}

/// The name of the index stands behind that of its dataset.
result<void> analytics_store::change_index(const n1ql::dataset_statement& what)
{
    analytics_definitions& all = definitions();
    if (what.name.size() < 2)
        return refuse(analytics_code::syntax, "Syntax error: an index belongs to a dataset");
    const std::string& index = what.name.back();
    const dataset_name of = full_name({what.name.begin(), what.name.end() - 1});
    if (!all.datasets.contains(of))
        return refuse(analytics_code::dataset_missing,
                      "Cannot find dataset with name " + of.second + " in dataverse " + of.first);
    if (what.what == verb::drop_index) {
        if (all.indexes[of].erase(index) == 0 && !what.if_exists)
            return refuse(analytics_code::index_not_found, "Cannot find index with name " + index);
        return {};
    }
    std::set<std::string>& known = all.indexes[of];
    const bool made = known.size() < most_datasets && known.insert(index).second;
    if (!made && !what.if_not_exists)
        return refuse(analytics_code::index_exists,
                      "An index with this name " + index + " already exists");
    return {};
}

}  // namespace holdfast::lab::couchbase
