#include "lab/mongo/storage/collection.hpp"

#include "core/bson/hex.hpp"
#include "holdfast/bson/json.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/document/shell_text.hpp"
#include "lab/mongo/storage/catalog.hpp"
#include "lab/mongo/storage/collection_inside.hpp"
#include "lab/mongo/storage/id_key.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>
#include <utility>

namespace holdfast::lab {
namespace {

constexpr int invalid_bson = 22;

std::string_view text_of(const bson::byte_buffer& bytes)
{
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

index_spec make_id_spec(const collection_options& options)
{
    bson::byte_buffer bytes;
    bson::builder raw{bytes};
    raw.put("v", std::int32_t{2});
    raw.document("key").put("_id", std::int32_t{1});
    index_spec spec;
    spec.name = options.clustered_index_name.empty() ? "_id_" : options.clustered_index_name;
    raw.add("name", spec.name);
    if (options.clustered)
        raw.add("unique", true).add("clustered", true);
    if (const bson::element order = options.raw["collation"]; order && options.order)
        raw.copy(order);
    (void)raw.finish();
    spec.raw = bson::document::adopt(std::move(bytes));
    spec.key = bson::doc("_id", 1);
    spec.unique = true;
    spec.order = options.order;
    return spec;
}

std::string hex_of(std::string_view bytes)
{
    const auto* const first = reinterpret_cast<const std::uint8_t*>(bytes.data());
    std::string digits(2 * bytes.size(), '0');
    bson::encode_hex({first, bytes.size()}, digits.data());
    return digits;
}

std::string json_of(bson::view document)
{
    auto text = bson::to_json(document, bson::json_mode::relaxed);
    return text ? *std::move(text) : std::string{"{}"};
}

}  // namespace

collection::inside::inside(std::string name, bson::uuid id, collection_options with)
    : ns{std::move(name)}, uuid{id}, options{std::move(with)}, id_spec{make_id_spec(options)}
{
    if (!options.order)
        return;
    if (auto ordered = index::make(id_spec)) {
        (*ordered)->is_id = true;
        indexes.push_back(*std::move(ordered));
    }
}

std::uint64_t collection::inside::hash_of(const bson::element& id) const
{
    key.clear();
    append_id_key(key, id);
    return std::hash<std::string_view>{}(text_of(key));
}

bool collection::inside::has_key(record_id which) const
{
    // A dead record has no document any more, but its history has.
    auto found = records.find(which, {});
    if (!found)
        found = records.last_state(which);
    if (!found)
        return false;
    other_key.clear();
    append_id_key(other_key, found->document.find("_id"));
    return text_of(key) == text_of(other_key);
}

record_id collection::inside::newest_with(std::uint64_t hash) const
{
    return ids.find(hash, [&](record_id which) { return has_key(which); });
}

index* collection::inside::find_index(std::string_view name) const
{
    for (const auto& each : indexes) {
        if (!each->is_id && each->spec.name == name)
            return each.get();
    }
    return nullptr;
}

/// Under a collation an index holds sort keys instead of texts, and that is what a server shows.
/// Texts inside of documents and arrays are left as they are.
error collection::inside::duplicate(const index_spec& of, bson::view key_values) const
{
    bson::byte_buffer shown_bytes, named_bytes;
    bson::builder shown{shown_bytes}, named{named_bytes};  // the first one is for people
    std::string encoded;
    auto value = key_values.begin();
    for (const bson::element& e : of.key) {
        if (value == key_values.end())
            break;
        const bool hex = of.order && value->type() == bson::type::string;
        encoded += std::string{encoded.empty() ? "" : ", "} + (hex ? "true" : "false");
        if (hex) {
            const std::string digits = hex_of(of.order->sort_key(value->as_string()));
            shown.add(e.key(), "0x" + digits);
            named.add(e.key(), digits);
        } else {
            shown.copy(e.key(), *value);
            named.copy(e.key(), *value);
        }
        ++value;
    }
    (void)shown.finish();
    (void)named.finish();
    std::string text = "E11000 duplicate key error collection: " + ns + " index: " + of.name;
    const bson::element order = of.raw["collation"];
    const bool ordered = order.type() == bson::type::document;
    if (ordered)
        text += " collation: " + shell_text(order.as_document());
    text += " dup key: " + shell_text(bson::view::trusted(shown_bytes.data()));
    error twice = refuse(server_code::duplicate_key, std::move(text))
                      .with_context("keyPattern", json_of(of.key))
                      .with_context("keyValue", json_of(bson::view::trusted(named_bytes.data())));
    if (!ordered)
        return twice;
    return std::move(twice)
        .with_context("hexEncoded", "{\"hexEncoded\": [" + encoded + "]}")
        .with_context("collation", json_of(order.as_document()));
}

result<std::vector<std::vector<bson::document>>> collection::inside::keys_for(bson::view document,
                                                                              record_id self,
                                                                              bool check) const
{
    std::vector<std::vector<bson::document>> all;
    all.reserve(indexes.size());
    for (const auto& each : indexes) {
        auto keys = each->keys_of(document);
        if (!keys)
            return std::move(keys).error();
        if (check && each->unique()) {
            std::vector<bson::document> fresh;  // what it had before, it may keep
            for (const bson::document& one : *keys) {
                if (self == 0 || !each->has(one, self))
                    fresh.push_back(one);
            }
            if (const bson::document* taken = each->taken(fresh))
                return duplicate(each->spec, taken->view());
        }
        all.push_back(*std::move(keys));
    }
    return all;
}

void collection::inside::unlist(record_id which, bson::view document)
{
    if (indexes.empty())
        return;
    const auto keys = keys_for(document, which, false);
    for (std::size_t i = 0; keys && i < indexes.size(); ++i)
        indexes[i]->remove((*keys)[i], which);
}

void collection::inside::forget_id(record_id which, const record_store::marks& marked)
{
    if (options.without_ids)
        return;
    // The record before it with the same _id may still be seen by an older read.
    if (marked.same_id_before != 0 && records.marks_of(marked.same_id_before) != nullptr)
        ids.move(marked.id_hash, which, marked.same_id_before);
    else
        ids.remove(marked.id_hash, which);
}

void collection::inside::evict()
{
    while (records.count() > 1 &&
           ((options.max_bytes > 0 && records.bytes() > options.max_bytes) ||
            (options.max_documents > 0 &&
             static_cast<std::int64_t>(records.count()) > options.max_documents))) {
        drop(*records.oldest());
    }
}

void collection::inside::drop(const record& which)
{
    const record_id id = which.id;
    const record_store::marks marked = *records.marks_of(id);
    unlist(id, which.document);
    records.vanish(id);
    forget_id(id, marked);
}

collection::collection(std::string ns, bson::uuid uuid, collection_options options)
    : inside_{std::make_unique<inside>(std::move(ns), uuid, std::move(options))}
{
}

collection::~collection() = default;

const std::string& collection::ns() const noexcept
{
    return inside_->ns;
}

std::string_view collection::name() const noexcept
{
    return collection_of(inside_->ns);
}

const bson::uuid& collection::uuid() const noexcept
{
    return inside_->uuid;
}

const collection_options& collection::options() const noexcept
{
    return inside_->options;
}

void collection::change_options(collection_options options)
{
    inside_->options = std::move(options);
    if (inside_->options.capped)
        inside_->evict();
}

void collection::rename(std::string ns)
{
    inside_->ns = std::move(ns);
}

result<record_id> collection::insert(bson::view document, bson::timestamp at)
{
    inside& my = *inside_;
    if (my.options.capped && my.options.max_bytes > 0 &&
        static_cast<std::int64_t>(document.size()) > my.options.max_bytes)
        return refuse(server_code::bad_value, "object to insert exceeds cappedMaxSize");
    record_store::marks marked;
    record_id before = 0;
    if (!my.options.without_ids) {
        const bson::element id = document.find("_id");
        if (id.malformed())
            return refuse(invalid_bson, "invalid BSON in a document to insert");
        if (!id)
            return refuse(server_code::bad_value, "a document to insert has no _id");
        marked.id_hash = my.hash_of(id);
        before = my.newest_with(marked.id_hash);
        if (before != 0 && my.records.find(before, {}))
            return my.duplicate(my.id_spec, bson::doc("", id));
        marked.same_id_before = before;
    }
    std::vector<std::vector<bson::document>> keys;
    if (!my.indexes.empty()) {
        auto found = my.keys_for(document, 0, true);
        if (!found)
            return std::move(found).error();
        keys = *std::move(found);
    }
    const record_id made = my.records.add(document, marked, at);
    if (before != 0)
        my.ids.move(marked.id_hash, before, made);
    else if (!my.options.without_ids)
        my.ids.add(marked.id_hash, made);
    for (std::size_t i = 0; i < keys.size(); ++i)
        my.indexes[i]->add(std::move(keys[i]), made);
    if (my.options.capped)
        my.evict();
    return made;
}

result<void> collection::replace(record_id which, bson::view document, bson::timestamp at)
{
    inside& my = *inside_;
    const auto now = my.records.find(which, {});
    if (!now)
        return refuse(server_code::no_such_key, "there is no such document");
    if (!my.options.without_ids) {
        (void)my.hash_of(document.find("_id"));
        if (!my.has_key(which))
            return refuse(server_code::immutable_field,
                          "Performing an update on the path '_id' would modify the immutable "
                          "field '_id'");
    }
    if (!my.indexes.empty()) {
        auto keys = my.keys_for(document, which, true);
        if (!keys)
            return std::move(keys).error();
        my.unlist(which, now->document);
        for (std::size_t i = 0; i < keys->size(); ++i)
            my.indexes[i]->add(std::move((*keys)[i]), which);
    }
    my.records.replace(which, document, at);
    if (my.options.capped)
        my.evict();
    return {};
}

void collection::remove(record_id which, bson::timestamp at)
{
    inside& my = *inside_;
    const auto now = my.records.find(which, {});
    if (!now)
        return;
    my.unlist(which, now->document);
    const record_store::marks marked = *my.records.marks_of(which);
    if (my.records.remove(which, at))
        my.forget_id(which, marked);
}

void collection::remove_all(bson::timestamp at)
{
    for (auto each = next(0); each; each = next(each->id))
        remove(each->id, at);
}

void collection::truncate()
{
    constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
    forget_before({most, most});
    while (const auto oldest = inside_->records.oldest())
        inside_->drop(*oldest);
}

std::optional<record> collection::next(record_id after, read_time at) const
{
    return inside_->records.next(after, at);
}

std::optional<record> collection::previous(record_id before, read_time at) const
{
    return inside_->records.previous(before, at);
}

std::optional<record> collection::find(record_id which, read_time at) const
{
    return inside_->records.find(which, at);
}

std::optional<record> collection::find_by_id(const bson::element& id, read_time at) const
{
    const inside& my = *inside_;
    if (!id)
        return {};
    const std::uint64_t hash = my.hash_of(id);
    if (my.options.without_ids) {
        auto one = next(0, at);
        while (one && !my.has_key(one->id))
            one = next(one->id, at);
        return one;
    }
    record_id which = my.newest_with(hash);
    while (which != 0) {
        if (auto found = my.records.find(which, at))
            return found;
        const record_store::marks* const marked = my.records.marks_of(which);
        which = at && marked != nullptr ? marked->same_id_before : 0;
    }
    return {};
}

std::size_t collection::count() const noexcept
{
    return inside_->records.count();
}

std::int64_t collection::data_size() const noexcept
{
    return inside_->records.bytes();
}

void collection::forget_before(bson::timestamp oldest)
{
    inside& my = *inside_;
    my.records.forget_before(oldest, [&](record_id which, const record_store::marks& marked) {
        my.forget_id(which, marked);
    });
}

}  // namespace holdfast::lab
