#include "core/couchbase/admin/collections.hpp"

#include "core/couchbase/admin/path.hpp"
#include "core/couchbase/retry/classify_http.hpp"
#include "core/couchbase/retry/json_text.hpp"
#include "core/couchbase/retry/text_match.hpp"
#include "core/couchbase/service/escape.hpp"

#include <utility>

namespace holdfast::core::couchbase {

namespace {

using holdfast::couchbase::collection_info;

/// The texts distinguish what the status does not: 'Scope with name "s" is not found', 'Collection
/// with name "c" in scope "s" already exists'.
classification collection_refused(int status, std::string_view body)
{
    classification meant = classify_management(status, body);
    const bool of_collection = contains_ignoring_case(body, "collection with");
    if (status == 404 && contains_ignoring_case(body, "not found")) {
        if (of_collection)
            meant.code = errc::collection_not_found;
        else if (contains_ignoring_case(body, "scope with"))
            meant.code = errc::scope_not_found;
        else
            meant.code = errc::bucket_not_found;
    } else if (status == 400) {
        if (contains_ignoring_case(body, "already exists"))
            meant.code = of_collection ? errc::collection_exists : errc::scope_exists;
        else if (contains_ignoring_case(body, "not allowed on this version"))
            meant.code = errc::feature_not_available;
        else
            meant.code = errc::invalid_argument;
    }
    return meant;
}

result<std::vector<scope_info>> read_scopes(std::string_view body)
{
    const auto parsed = parse_json(body, {.max_bytes = max_list_bytes});
    if (!parsed)
        return parsed.error();
    const boost::json::array* const all = find_array(*parsed, "scopes");
    if (all == nullptr)
        return unexpected_answer("a list of scopes");
    std::vector<scope_info> made;
    for (const boost::json::value& one : *all) {
        scope_info& scope = made.emplace_back();
        scope.name = text_in(one, "name");
        const boost::json::array* const collections = find_array(one, "collections");
        if (scope.name.empty() || collections == nullptr)
            return unexpected_answer("a list of scopes: one has no name, or no collections");
        for (const boost::json::value& each : *collections) {
            collection_info& collection = scope.collections.emplace_back();
            collection.name = text_in(each, "name");
            collection.scope = scope.name;
            collection.max_expiry = std::chrono::seconds{integer_in(each, "maxTTL")};
            collection.history = flag_in(each, "history");
        }
    }
    return made;
}

std::string scopes_of(std::string_view bucket)
{
    return path_of("pools", "default", "buckets", bucket, "scopes");
}

std::string collection_path(const collection_name& what)
{
    return path_of("pools", "default", "buckets", what.bucket, "scopes", what.scope, "collections",
                   what.collection);
}

form_text settings_form(const collection_settings& settings)
{
    form_text made;
    if (settings.max_expiry)
        made.add("maxTTL", settings.max_expiry->count());
    if (settings.history)
        made.add("history", *settings.history ? "true" : "false");
    return made;
}

result<void> check(const collection_name& what, bool of_scope)
{
    if (auto bad = check_name(what.bucket, "bucket"); !bad)
        return bad;
    if (auto bad = check_name(what.scope, "scope"); !bad || of_scope)
        return bad;
    return check_name(what.collection, "collection");
}

admin_order<void> order_of(service_request request)
{
    return {std::move(request), collection_refused, read_nothing};
}

}  // namespace

result<admin_order<void>> create_scope(const collection_name& what)
{
    if (auto bad = check(what, true); !bad)
        return std::move(bad).error();
    form_text of_scope;
    of_scope.add("name", what.scope);
    return order_of(management(http_method::post, scopes_of(what.bucket), "create_scope",
                               std::move(of_scope).text()));
}

result<admin_order<void>> drop_scope(const collection_name& what)
{
    if (auto bad = check(what, true); !bad)
        return std::move(bad).error();
    return order_of(management(http_method::remove, scopes_of(what.bucket) + path_of(what.scope),
                               "drop_scope"));
}

result<admin_order<std::vector<scope_info>>> get_all_scopes(std::string_view bucket)
{
    if (auto bad = check_name(bucket, "bucket"); !bad)
        return std::move(bad).error();
    return admin_order<std::vector<scope_info>>{
        management(http_method::get, scopes_of(bucket), "get_all_scopes"), collection_refused,
        read_scopes};
}

result<admin_order<void>> create_collection(const collection_name& what,
                                            const collection_settings& settings)
{
    if (auto bad = check(what, false); !bad)
        return std::move(bad).error();
    form_text of_collection = settings_form(settings);
    of_collection.add("name", what.collection);
    return order_of(management(http_method::post,
                               scopes_of(what.bucket) + path_of(what.scope, "collections"),
                               "create_collection", std::move(of_collection).text()));
}

result<admin_order<void>> update_collection(const collection_name& what,
                                            const collection_settings& settings)
{
    if (auto bad = check(what, false); !bad)
        return std::move(bad).error();
    return order_of(management(http_method::patch, collection_path(what), "update_collection",
                               settings_form(settings).text()));
}

result<admin_order<void>> drop_collection(const collection_name& what)
{
    if (auto bad = check(what, false); !bad)
        return std::move(bad).error();
    return order_of(management(http_method::remove, collection_path(what), "drop_collection"));
}

}  // namespace holdfast::core::couchbase
