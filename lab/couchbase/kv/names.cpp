#include "lab/couchbase/kv/names.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace holdfast::lab::couchbase {

namespace {

using core::couchbase::kv_opcode;

template <class Value>
struct named {
    std::string_view name;
    Value value;
};

constexpr named<kv_opcode> opcode_names[] = {
    {"get", kv_opcode::get},
    {"upsert", kv_opcode::upsert},
    {"insert", kv_opcode::insert},
    {"replace", kv_opcode::replace},
    {"remove", kv_opcode::remove},
    {"increment", kv_opcode::increment},
    {"decrement", kv_opcode::decrement},
    {"noop", kv_opcode::noop},
    {"append", kv_opcode::append},
    {"prepend", kv_opcode::prepend},
    {"stat", kv_opcode::stat},
    {"touch", kv_opcode::touch},
    {"get_and_touch", kv_opcode::get_and_touch},
    {"hello", kv_opcode::hello},
    {"sasl_list_mechanisms", kv_opcode::sasl_list_mechanisms},
    {"sasl_auth", kv_opcode::sasl_auth},
    {"sasl_step", kv_opcode::sasl_step},
    {"get_replica", kv_opcode::get_replica},
    {"select_bucket", kv_opcode::select_bucket},
    {"observe_seqno", kv_opcode::observe_seqno},
    {"get_and_lock", kv_opcode::get_and_lock},
    {"unlock", kv_opcode::unlock},
    {"get_meta", kv_opcode::get_meta},
    {"get_cluster_config", kv_opcode::get_cluster_config},
    {"get_collections_manifest", kv_opcode::get_collections_manifest},
    {"get_collection_id", kv_opcode::get_collection_id},
    {"get_scope_id", kv_opcode::get_scope_id},
    {"lookup_in", kv_opcode::subdoc_multi_lookup},
    {"mutate_in", kv_opcode::subdoc_multi_mutation},
    {"get_error_map", kv_opcode::get_error_map},
};

constexpr named<frame_damage> frame_damages[] = {
    {"none", frame_damage::none},
    {"wrong_magic", frame_damage::wrong_magic},
    {"huge_body", frame_damage::huge_body},
    {"long_key", frame_damage::long_key},
    {"bad_framing", frame_damage::bad_framing},
    {"unknown_datatype", frame_damage::unknown_datatype},
};

constexpr named<config_damage> config_damages[] = {
    {"none", config_damage::none},
    {"no_extended_nodes", config_damage::no_extended_nodes},
    {"short_rows", config_damage::short_rows},
    {"index_out_of_range", config_damage::index_out_of_range},
    {"all_missing", config_damage::all_missing},
    {"no_vbuckets", config_damage::no_vbuckets},
    {"no_servers", config_damage::no_servers},
    {"older_revision", config_damage::older_revision},
    {"other_name", config_damage::other_name},
    {"not_json", config_damage::not_json},
};

constexpr named<refusal_body> refusal_bodies[] = {
    {"full", refusal_body::full},
    {"empty", refusal_body::empty},
    {"stale", refusal_body::stale},
    {"garbage", refusal_body::garbage},
    {"other_bucket", refusal_body::other_bucket},
};

constexpr named<push_policy> push_policies[] = {
    {"on", {}},
    {"off", {.enabled = false}},
    {"brief", {.brief = true}},
    {"short", {.short_extras = true}},
    {"twice", {.copies = 2}},
    {"older", {.older_only = true}},
    {"then_older", {.then_older = true}},
};

template <class Value, std::size_t Size>
std::optional<Value> find_in(const named<Value> (&table)[Size], std::string_view name)
{
    const auto found = std::ranges::find(table, name, &named<Value>::name);
    return found == std::ranges::end(table) ? std::nullopt : std::optional{found->value};
}

}  // namespace

std::optional<kv_opcode> opcode_named(std::string_view name)
{
    if (!name.starts_with("0x"))
        return find_in(opcode_names, name);
    std::uint8_t number = 0;
    const char* const end = name.data() + name.size();
    const auto [last, why] = std::from_chars(name.data() + 2, end, number, 16);
    return why == std::errc{} && last == end ? std::optional{kv_opcode{number}} : std::nullopt;
}

std::optional<frame_damage> frame_damage_named(std::string_view name)
{
    return find_in(frame_damages, name);
}

std::optional<config_damage> config_damage_named(std::string_view name)
{
    return find_in(config_damages, name);
}

std::optional<refusal_body> refusal_body_named(std::string_view name)
{
    return find_in(refusal_bodies, name);
}

std::optional<push_policy> push_policy_named(std::string_view name)
{
    return find_in(push_policies, name);
}

}  // namespace holdfast::lab::couchbase
