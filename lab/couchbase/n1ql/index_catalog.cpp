#include "lab/couchbase/n1ql/index_catalog.hpp"

#include "lab/couchbase/n1ql/query_error.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace holdfast::lab::couchbase::n1ql {

namespace {

constexpr std::string_view usual_primary = "#primary";

std::string index_id(std::uint64_t number)
{
    char digits[24];
    std::snprintf(digits, sizeof digits, "%016llx",
                  static_cast<unsigned long long>(number * 0x9e3779b97f4a7c15U));
    return digits;
}

error no_such_index(std::string_view name)
{
    return refuse(query_code::index_not_found,
                  "Index Not Found - cause: GSI index " + std::string{name} + " not found.");
}

bool is_deferred(const expression_ptr& with)
{
    if (!with)
        return false;
    environment in;
    const value options = evaluate(*with, {}, in);
    const json::object* const given = options ? options->if_object() : nullptr;
    const json::value* const found = given ? given->if_contains("defer_build") : nullptr;
    return found && is_true(*found);
}

}  // namespace

std::string keyspace::path() const
{
    std::string made = "default:" + bucket;
    return is_default() ? made : made + "." + scope + "." + collection;
}

index_record* index_catalog::find(const keyspace& on, std::string_view name)
{
    const auto found = std::ranges::find_if(
        all_, [&](const index_record& one) { return one.on == on && one.name == name; });
    return found == all_.end() ? nullptr : &*found;
}

result<void> index_catalog::create(const keyspace& on, const create_index_statement& what)
{
    const std::string name = what.name.empty() ? std::string{usual_primary} : what.name;
    if (find(on, name)) {
        if (what.if_not_exists)
            return {};
        return refuse(query_code::index_exists, "The index " + name + " already exists.");
    }
    if (all_.size() == most_indexes)
        return refuse(query_code::internal, "GSI CreateIndex() - cause: too many indexes");
    all_.push_back({index_id(++created_), name, on, what.primary, what.keys, what.condition,
                    !is_deferred(what.with)});
    return {};
}

result<void> index_catalog::drop(const keyspace& on, const drop_index_statement& what)
{
    const std::string name = what.name.empty() ? std::string{usual_primary} : what.name;
    const auto found = std::ranges::find_if(
        all_, [&](const index_record& one) { return one.on == on && one.name == name; });
    if (found != all_.end()) {
        all_.erase(found);
        return {};
    }
    if (what.if_exists)
        return {};
    if (what.primary)
        return refuse(query_code::primary_index_not_found, "Primary Index not found " + name +
                                                               " - cause: GSI index " + name +
                                                               " not found.");
    return no_such_index(name);
}

result<void> index_catalog::build(const keyspace& on, const std::vector<std::string>& names)
{
    for (const std::string& name : names) {
        if (!find(on, name))
            return no_such_index(name);
    }
    for (const std::string& name : names)
        find(on, name)->built = true;
    return {};
}

bool index_catalog::has_built(const keyspace& on) const
{
    return std::ranges::any_of(all_,
                               [&](const index_record& one) { return one.on == on && one.built; });
}

void index_catalog::keep(const std::function<bool(const keyspace&)>& exists)
{
    std::erase_if(all_, [&](const index_record& one) { return !exists(one.on); });
}

json::object index_row(const index_record& of, std::string_view cluster)
{
    json::array keys;
    for (const std::string& one : of.keys)
        keys.emplace_back(text(one));
    json::object row{{"datastore_id", text("http://" + std::string{cluster})},
                     {"id", text(of.id)},
                     {"index_key", std::move(keys)},
                     {"name", text(of.name)},
                     {"namespace_id", "default"},
                     {"state", of.built ? "online" : "deferred"},
                     {"using", "gsi"}};
    if (of.on.is_default()) {
        row["keyspace_id"] = text(of.on.bucket);
    } else {
        row["bucket_id"] = text(of.on.bucket);
        row["scope_id"] = text(of.on.scope);
        row["keyspace_id"] = text(of.on.collection);
    }
    if (of.primary)
        row["is_primary"] = true;
    if (!of.condition.empty())
        row["condition"] = text(of.condition);
    return row;
}

json::object keyspace_row(const keyspace& of, std::string_view cluster)
{
    const std::string name = of.is_default() ? of.bucket : of.collection;
    json::object row{{"datastore_id", text("http://" + std::string{cluster})},
                     {"id", text(name)},
                     {"name", text(name)},
                     {"namespace", "default"},
                     {"namespace_id", "default"},
                     {"path", text(of.path())}};
    if (!of.is_default()) {
        row["bucket"] = text(of.bucket);
        row["scope"] = text(of.scope);
    }
    return row;
}

}  // namespace holdfast::lab::couchbase::n1ql
