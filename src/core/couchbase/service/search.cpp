#include "core/couchbase/service/search.hpp"

#include "core/couchbase/service/body_members.hpp"
#include "core/couchbase/service/member_reader.hpp"
#include "core/couchbase/service/statement_members.hpp"
#include "core/uri/percent.hpp"
#include "holdfast/couchbase/errc.hpp"

#include <algorithm>
#include <vector>

namespace holdfast::core::couchbase {

namespace {

using holdfast::couchbase::errc;
using holdfast::couchbase::raw_option;
using holdfast::couchbase::search_options;

std::string path_of(const search_target& target)
{
    std::string path = "/api/";
    if (!target.scope.empty()) {
        path.append("bucket/").append(uri::percent_encode(target.bucket));
        path.append("/scope/").append(uri::percent_encode(target.scope)).append("/");
    }
    return path.append("index/").append(uri::percent_encode(target.index)).append("/query");
}

void add_options(body_members& body, const search_options& options)
{
    body.add_number("size", options.limit);
    body.add_number("from", options.skip);
    body.add_flag("explain", options.explain);
    if (options.disable_scoring)
        body.add("score", "none");
    body.add_flag("includeLocations", options.include_locations);
    body.add_list("fields", options.fields);
    body.add_list("collections", options.collections);
}

/// The names of what the options add.
std::vector<std::string> names_in(const std::string& members)
{
    std::vector<std::string> names;
    const std::string object = object_of({members});
    member_reader each{object};
    while (each.next())
        names.emplace_back(each.name());
    return names;
}

error not_a_request(std::string_view why)
{
    return error{errc::invalid_argument,
                 "the search request is not a JSON object, as {\"query\": ...}: " +
                     std::string{why}};
}

/// The members of the user's request but those that are in `taken`, and "ctl", which is given by
/// itself.
result<std::string> members_of_request(std::string_view request,
                                       const std::vector<std::string>& taken, std::string& control)
{
    body_members kept{{}};
    json::reader whole{request};
    std::string_view text;
    if (!whole.skip(text) || !whole.finish())
        return not_a_request(std::move(whole).fault().message());
    if (!text.starts_with('{'))
        return not_a_request("it begins with '" + std::string{text.substr(0, 1)} + "'");
    member_reader each{text};
    while (each.next()) {
        if (std::ranges::find(taken, each.name()) != taken.end())
            continue;
        if (each.is("ctl"))
            control = each.value();
        else
            kept.add_json(each.name(), each.value());
    }
    return std::move(kept).finish();
}

/// The user's "ctl" with our consistency in it, without a timeout.
result<std::string> merged_control(std::string_view control, std::string_view index,
                                   const search_options& options)
{
    body_members merged{{}};
    const bool has_tokens = options.consistent_with && !options.consistent_with->empty();
    member_reader each{control.empty() ? "{}" : control};
    while (each.next())
        if (!each.is("timeout") && !(has_tokens && each.is("consistency")))
            merged.add_json(each.name(), each.value());
    if (has_tokens)
        merged.add_json("consistency", search_consistency_of(index, *options.consistent_with));
    return std::move(merged).finish();
}

}  // namespace

result<search_order> make_search(const search_target& target, std::string_view request,
                                 const search_options& options)
{
    if (target.index.empty())
        return error{errc::invalid_argument, "the name of the search index is empty"};
    body_members body{options.raw};
    search_order made{.path = path_of(target), .own_control = !body.is_raw("ctl")};
    add_options(body, options);
    auto ours = std::move(body).finish();
    if (!ours)
        return std::move(ours).error();
    std::string control;
    auto theirs = members_of_request(request, names_in(*ours), control);
    if (!theirs)
        return std::move(theirs).error();
    auto merged = merged_control(control, target.index, options);
    if (!merged)
        return std::move(merged).error();
    made.control = *std::move(merged);
    made.members = joined({*theirs, *ours});
    return made;
}

service_request search_order::request(std::chrono::milliseconds time_left) const
{
    std::string ctl;
    if (own_control)
        ctl = "\"ctl\":" +
              object_of(
                  {"\"timeout\":" + std::to_string(at_least_one(time_left).count()), control});
    return {.service = service_type::search,
            .method = http_method::post,
            .path = path,
            .content_type = json_content,
            .body = object_of({ctl, members}),
            .idempotent = is_idempotent(search_request{}),
            .operation = "search"};
}

}  // namespace holdfast::core::couchbase
