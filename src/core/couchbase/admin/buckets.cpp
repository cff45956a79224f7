#include "core/couchbase/admin/buckets.hpp"

#include "core/couchbase/admin/path.hpp"
#include "core/couchbase/retry/classify_http.hpp"
#include "core/couchbase/retry/json_text.hpp"
#include "core/couchbase/retry/text_match.hpp"
#include "core/couchbase/service/escape.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

namespace holdfast::core::couchbase {

namespace {

using namespace holdfast::couchbase;

constexpr std::uint64_t bytes_of_a_megabyte = 1024 * 1024;
constexpr std::uint64_t smallest_quota_mb = 100;

template <class E>
using name_row = std::pair<E, std::string_view>;

constexpr name_row<bucket_type> bucket_types[] = {
    {bucket_type::couchbase, "membase"},
    {bucket_type::ephemeral, "ephemeral"},
};
constexpr name_row<eviction_policy> eviction_policies[] = {
    {eviction_policy::value_only, "valueOnly"},
    {eviction_policy::full, "fullEviction"},
    {eviction_policy::no_eviction, "noEviction"},
    {eviction_policy::not_recently_used, "nruEviction"},
};
constexpr name_row<compression_mode> compression_modes[] = {
    {compression_mode::off, "off"},
    {compression_mode::passive, "passive"},
    {compression_mode::active, "active"},
};
constexpr name_row<conflict_resolution> conflict_resolutions[] = {
    {conflict_resolution::sequence_number, "seqno"},
    {conflict_resolution::timestamp, "lww"},
    {conflict_resolution::custom, "custom"},
};
constexpr name_row<storage_backend> storage_backends[] = {
    {storage_backend::couchstore, "couchstore"},
    {storage_backend::magma, "magma"},
};
constexpr name_row<durability> durabilities[] = {
    {durability::none, "none"},
    {durability::majority, "majority"},
    {durability::majority_and_persist_to_active, "majorityAndPersistActive"},
    {durability::persist_to_majority, "persistToMajority"},
};

template <class E>
std::string_view name_in(std::span<const name_row<E>> names, E value)
{
    const auto row = std::ranges::find(names, value, &name_row<E>::first);
    return row == names.end() ? std::string_view{} : row->second;
}

/// The first one if the name is not known.
template <class E>
E value_in(std::span<const name_row<E>> names, std::string_view name)
{
    const auto row = std::ranges::find(names, name, &name_row<E>::second);
    return row == names.end() ? names.front().first : row->first;
}

template <class E, std::size_t Count>
void add(form_text& to, std::string_view field, const std::optional<E>& value,
         const name_row<E> (&names)[Count])
{
    if (value)
        to.add(field, name_in(std::span<const name_row<E>>{names}, *value));
}

void add(form_text& to, std::string_view field, const std::optional<bool>& value)
{
    if (value)
        to.add(field, *value ? "1" : "0");
}

/// What can be changed later as well.
void add_settings(form_text& to, const bucket_settings& settings)
{
    if (settings.ram_quota_mb)
        to.add("ramQuotaMB", *settings.ram_quota_mb);
    if (settings.replicas)
        to.add("replicaNumber", *settings.replicas);
    add(to, "flushEnabled", settings.flush_enabled);
    add(to, "evictionPolicy", settings.eviction, eviction_policies);
    add(to, "compressionMode", settings.compression, compression_modes);
    add(to, "durabilityMinLevel", settings.minimum_durability, durabilities);
    if (settings.max_expiry)
        to.add("maxTTL", settings.max_expiry->count());
}

classification bucket_refused(int status, std::string_view body)
{
    classification meant = classify_management(status, body);
    if (status == 404)
        meant.code = errc::bucket_not_found;
    else if (status == 400 && contains_ignoring_case(body, "already exists"))
        meant.code = errc::bucket_exists;
    else if (status == 400 && contains_ignoring_case(body, "flush is disabled"))
        meant.code = errc::bucket_not_flushable;
    else if (status == 400)
        meant.code = errc::invalid_argument;
    return meant;
}

result<bucket_info> bucket_of(const boost::json::value& from)
{
    bucket_info made;
    made.name = text_in(from, "name");
    if (made.name.empty())
        return unexpected_answer("a bucket: it has no name");
    made.uuid = text_in(from, "uuid");
    if (const boost::json::object* const members = from.if_object()) {
        if (const boost::json::value* const quota = members->if_contains("quota"))
            made.ram_quota_mb = static_cast<std::uint64_t>(integer_in(*quota, "rawRAM")) /
                                bytes_of_a_megabyte;
        if (const boost::json::value* const can = members->if_contains("controllers"))
            made.flush_enabled = find_string(*can, "flush") != nullptr;
    }
    made.replicas = static_cast<std::uint32_t>(integer_in(from, "replicaNumber"));
    made.replica_indexes = flag_in(from, "replicaIndex");
    made.type = value_in<bucket_type>(bucket_types, text_in(from, "bucketType"));
    made.eviction = value_in<eviction_policy>(eviction_policies, text_in(from, "evictionPolicy"));
    made.compression = value_in<compression_mode>(compression_modes,
                                                  text_in(from, "compressionMode"));
    made.minimum_durability = value_in<durability>(durabilities,
                                                   text_in(from, "durabilityMinLevel"));
    made.max_expiry = std::chrono::seconds{integer_in(from, "maxTTL")};
    made.conflicts = value_in<conflict_resolution>(conflict_resolutions,
                                                   text_in(from, "conflictResolutionType"));
    made.storage = value_in<storage_backend>(storage_backends, text_in(from, "storageBackend"));
    return made;
}

result<bucket_info> read_bucket(std::string_view body)
{
    const auto parsed = parse_json(body);
    if (!parsed)
        return parsed.error();
    return bucket_of(*parsed);
}

result<std::vector<bucket_info>> read_buckets(std::string_view body)
{
    const auto parsed = parse_json(body, {.max_bytes = max_list_bytes});
    if (!parsed)
        return parsed.error();
    const boost::json::array* const all = parsed->if_array();
    if (all == nullptr)
        return unexpected_answer("a list of buckets");
    std::vector<bucket_info> made;
    for (const boost::json::value& one : *all) {
        auto bucket = bucket_of(one);
        if (!bucket)
            return std::move(bucket).error();
        made.push_back(*std::move(bucket));
    }
    return made;
}

std::string bucket_path(std::string_view bucket)
{
    return path_of("pools", "default", "buckets", bucket);
}

/// A change of a bucket, by a form or without one.
result<admin_order<void>> change(std::string_view name, http_method method, std::string path,
                                 std::string_view operation, form_text what = {})
{
    if (auto bad = check_name(name, "bucket"); !bad)
        return std::move(bad).error();
    admin_order<void> made;
    std::string body = std::move(what).text();
    made.request = body.empty() ? management(method, std::move(path), operation)
                                : management(method, std::move(path), operation, std::move(body));
    made.refused = bucket_refused;
    made.read = read_nothing;
    return made;
}

}  // namespace

result<admin_order<void>> create_bucket(std::string_view name, const bucket_settings& settings)
{
    form_text what;
    what.add("name", name);
    bucket_settings complete = settings;
    complete.ram_quota_mb = settings.ram_quota_mb.value_or(smallest_quota_mb);
    add_settings(what, complete);
    add(what, "replicaIndex", settings.replica_indexes);
    add(what, "bucketType", settings.type, bucket_types);
    add(what, "conflictResolutionType", settings.conflicts, conflict_resolutions);
    add(what, "storageBackend", settings.storage, storage_backends);
    return change(name, http_method::post, "/pools/default/buckets", "create_bucket",
                  std::move(what));
}

result<admin_order<void>> update_bucket(std::string_view name, const bucket_settings& settings)
{
    form_text what;
    add_settings(what, settings);
    return change(name, http_method::post, bucket_path(name), "update_bucket", std::move(what));
}

result<admin_order<void>> drop_bucket(std::string_view name)
{
    return change(name, http_method::remove, bucket_path(name), "drop_bucket");
}

result<admin_order<void>> flush_bucket(std::string_view name)
{
    return change(name, http_method::post, bucket_path(name) + "/controller/doFlush",
                  "flush_bucket");
}

result<admin_order<bucket_info>> get_bucket(std::string_view name)
{
    if (auto bad = check_name(name, "bucket"); !bad)
        return std::move(bad).error();
    return admin_order<bucket_info>{management(http_method::get, bucket_path(name), "get_bucket"),
                                    bucket_refused, read_bucket};
}

admin_order<std::vector<bucket_info>> get_all_buckets()
{
    return {management(http_method::get, "/pools/default/buckets", "get_all_buckets"),
            bucket_refused, read_buckets};
}

}  // namespace holdfast::core::couchbase
