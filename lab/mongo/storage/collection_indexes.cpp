#include "lab/mongo/document/compare.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/document/shell_text.hpp"
#include "lab/mongo/storage/collection.hpp"
#include "lab/mongo/storage/collection_inside.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::lab {
namespace {

constexpr std::size_t max_indexes = 64;

/// Two indexes with the same of these would be the same index.
bool same_identity(const index_spec& a, const index_spec& b)
{
    return compare(a.key.view(), b.key.view()) == 0 && a.order == b.order && a.unique == b.unique &&
           a.sparse == b.sparse && compare(a.partial_filter.view(), b.partial_filter.view()) == 0;
}

bool same_rest(const index_spec& a, const index_spec& b)
{
    return a.expire_after_seconds == b.expire_after_seconds;
}

std::string both(const index_spec& wanted, const index_spec& there)
{
    return " Requested index: " + shell_text(wanted.raw) +
           ", existing index: " + shell_text(there.raw);
}

/// True: it is there already.
result<bool> check_conflict(const index_spec& wanted, const index_spec& there)
{
    if (wanted.name == there.name) {
        if (!same_identity(wanted, there))
            return refuse(server_code::index_key_specs_conflict,
                          "An existing index has the same name as the requested index. When index "
                          "names are not specified, they are auto generated and can cause "
                          "conflicts. Please refer to our documentation." +
                              both(wanted, there));
        if (!same_rest(wanted, there))
            return refuse(server_code::index_options_conflict,
                          "An equivalent index already exists with the same name but different "
                          "options." +
                              both(wanted, there));
        return true;
    }
    if (!same_identity(wanted, there))
        return false;
    if (same_rest(wanted, there))
        return refuse(server_code::index_options_conflict,
                      "Index already exists with a different name: " + there.name);
    return refuse(server_code::index_options_conflict,
                  "An equivalent index already exists with a different name and options." +
                      both(wanted, there));
}

/// A spec without a collation has the collection's, and {locale: "simple"} none.
void settle_collation(index_spec& spec, const collection_options& options)
{
    const bson::element given = spec.raw["collation"];
    if (given && spec.order)
        return;
    bson::byte_buffer bytes;
    bson::builder raw{bytes};
    for (const bson::element& e : spec.raw) {
        if (e.key() != "collation")
            raw.copy(e);
    }
    if (!given && options.order) {
        spec.order = options.order;
        if (const bson::element order = options.raw["collation"])
            raw.copy(order);
    }
    if (raw.finish())
        spec.raw = bson::document::adopt(std::move(bytes));
}

bool is_id_key(bson::view key)
{
    const bson::element first = *key.begin();
    return !key.empty() && first.key() == "_id" && ++key.begin() == key.end() &&
           compare(first, bson::doc("", 1)[""]) == 0;
}

bson::document with_fields_of(const index_spec& spec)
{
    bson::byte_buffer bytes;
    bson::builder raw{bytes};
    for (const bson::element& e : spec.raw) {
        if (e.key() != "unique" && e.key() != "hidden" && e.key() != "prepareUnique" &&
            e.key() != "expireAfterSeconds")
            raw.copy(e);
    }
    if (spec.unique)
        raw.add("unique", true);
    if (spec.prepare_unique)
        raw.add("prepareUnique", true);
    if (spec.hidden)
        raw.add("hidden", true);
    if (const auto seconds = spec.expire_after_seconds; seconds && *seconds <= INT32_MAX)
        raw.add("expireAfterSeconds", static_cast<std::int32_t>(*seconds));
    else if (seconds)
        raw.add("expireAfterSeconds", *seconds);
    (void)raw.finish();
    return bson::document::adopt(std::move(bytes));
}

}  // namespace

bool collection::has_index_on(std::string_view path) const
{
    if (path == "_id" && !inside_->options.without_ids)
        return true;
    return std::ranges::any_of(inside_->indexes,
                               [&](const auto& each) { return each->answers(path); });
}

std::vector<record_id> collection::find_equal(std::string_view path,
                                              const bson::element& value) const
{
    if (path == "_id") {
        const auto found = find_by_id(value);
        return found ? std::vector<record_id>{found->id} : std::vector<record_id>{};
    }
    for (const auto& each : inside_->indexes) {
        if (each->answers(path))
            return each->equal_first(value);
    }
    return {};
}

result<bool> collection::create_index(index_spec spec)
{
    inside& my = *inside_;
    settle_collation(spec, my.options);
    if (is_id_key(spec.key)) {
        if (spec.order != my.options.order)
            return refuse(server_code::bad_value,
                          "The _id index must have the same collation as the collection.");
        return false;
    }
    if (spec.name == my.id_spec.name)
        return refuse(server_code::index_key_specs_conflict,
                      "An existing index has the same name as the requested index." +
                          both(spec, my.id_spec));
    for (const auto& each : my.indexes) {
        if (each->is_id)
            continue;
        auto there = check_conflict(spec, each->spec);
        if (!there)
            return std::move(there).error();
        if (*there)
            return false;
    }
    if (my.indexes.size() >= max_indexes)
        return refuse(server_code::cannot_create_index, "add index fails, too many indexes for " +
                                                            my.ns + " key:" + shell_text(spec.key));
    auto made = index::make(std::move(spec));
    if (!made)
        return std::move(made).error();
    index& fresh = **made;
    for (auto each = next(0); each; each = next(each->id)) {
        auto keys = fresh.keys_of(each->document);
        if (!keys)
            return std::move(keys).error();
        if (fresh.unique()) {
            if (const bson::document* taken = fresh.taken(*keys))
                return my.duplicate(fresh.spec, taken->view());
        }
        fresh.add(*std::move(keys), each->id);
    }
    my.indexes.push_back(*std::move(made));
    return true;
}

result<void> collection::drop_index(std::string_view name)
{
    inside& my = *inside_;
    if (name == my.id_spec.name)
        return refuse(server_code::invalid_options, "cannot drop _id index");
    index* const found = my.find_index(name);
    if (found == nullptr)
        return refuse(server_code::index_not_found,
                      "index not found with name [" + std::string{name} + "]");
    std::erase_if(my.indexes, [&](const auto& each) { return each.get() == found; });
    return {};
}

std::vector<index_spec> collection::indexes() const
{
    std::vector<index_spec> all;
    if (!inside_->options.without_ids && inside_->options.view_on.empty())
        all.push_back(inside_->id_spec);
    for (const auto& each : inside_->indexes) {
        if (!each->is_id)
            all.push_back(each->spec);
    }
    return all;
}

const index_spec* collection::index_named(std::string_view name) const
{
    if (name == inside_->id_spec.name)
        return &inside_->id_spec;
    const index* const found = inside_->find_index(name);
    return found == nullptr ? nullptr : &found->spec;
}

const index_spec* collection::index_with_key(bson::view key) const
{
    if (is_id_key(key))
        return &inside_->id_spec;
    for (const auto& each : inside_->indexes) {
        if (!each->is_id && compare(each->spec.key.view(), key) == 0)
            return &each->spec;
    }
    return nullptr;
}

std::vector<std::vector<bson::document>> collection::duplicates_in(std::string_view name) const
{
    std::vector<std::vector<bson::document>> groups;
    const index* const which = inside_->find_index(name);
    if (which == nullptr)
        return groups;
    for (const std::vector<record_id>& group : which->duplicates()) {
        std::vector<bson::document>& ids = groups.emplace_back();
        for (const record_id each : group) {
            const auto found = find(each);
            const bson::element id = found ? found->document.find("_id") : bson::element{};
            ids.push_back(id ? bson::doc("_id", id) : bson::document{});
        }
    }
    return groups;
}

std::vector<std::vector<bson::document>> collection::change_index(const index_spec& changed)
{
    index* const which = inside_->find_index(changed.name);
    if (which == nullptr)
        return {};
    if (changed.unique && !which->spec.unique) {
        if (auto groups = duplicates_in(changed.name); !groups.empty())
            return groups;
    }
    index_spec& spec = which->spec;
    spec.hidden = changed.hidden;
    spec.unique = changed.unique;
    spec.prepare_unique = changed.prepare_unique && !changed.unique;
    spec.expire_after_seconds = changed.expire_after_seconds;
    spec.raw = with_fields_of(spec);
    return {};
}

}  // namespace holdfast::lab
