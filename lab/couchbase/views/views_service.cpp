#include "lab/couchbase/views/views_service.hpp"

#include "lab/couchbase/cluster/node_index.hpp"
#include "lab/couchbase/cluster/node_service.hpp"
#include "lab/couchbase/views/view_definitions.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <chrono>
#include <set>
#include <utility>

namespace holdfast::lab::couchbase {

namespace {

/// An index that has not come as far by then will not.
constexpr std::chrono::seconds longest_wait{60};
constexpr std::size_t most_designs = 100;

http_reply view_reply_of(const boost::json::value& body, int status = 200)
{
    http_reply made;
    made.status = status;
    made.body = boost::json::serialize(body);
    return made;
}

http_reply view_failure(int status, std::string_view name, std::string_view reason)
{
    return view_reply_of(
        boost::json::object{{"error", boost::json::string{name.data(), name.size()}},
                            {"reason", boost::json::string{reason.data(), reason.size()}}},
        status);
}

/// One request on its way.
struct pending_view {
    view_query what = {};
    std::string bucket = {};
    design_view view = {};
    index_positions wanted = {};
    time_point began = {};
};

class views_service final : public node_service {
public:
    views_service(cluster& of, std::size_t number, runtime::world& in)
        : node_service{of, number, "capi", in}, index_{of, number, in}
    {
    }

    http_reply answer(const http_request& what) override;

private:
    struct call {
        const http_request& request;
        std::string bucket;
        std::string design;
        std::string view = {};
    };

    http_reply put_design(const call& what);
    http_reply get_design(const call& what);
    http_reply drop_design(const call& what);
    http_reply query(const call& what);
    http_reply dispatch(const call& what);

    view_definitions::documents& designs_of(const std::string& bucket)
    {
        return on_.admin().definitions<view_definitions>("capi").of(*on_.layout(bucket));
    }
    /// Nodes with data that do not answer; the index has nothing new of theirs.
    std::set<int> silent_nodes(const bucket_layout& in) const;
    std::optional<http_reply> go_on(const pending_view& what);
    http_reply run(const pending_view& what, const bucket_layout& on);

    node_index index_;
};

http_reply views_service::answer(const http_request& what)
{
    if (what.parts.empty() && what.method == "GET")
        return view_reply_of(boost::json::object{{"couchdb", "Welcome"}, {"version", "lab"}});
    const bool is_view = what.parts.size() == 5 && what.parts[3] == "_view";
    if ((what.parts.size() != 3 && !is_view) || what.parts[1] != "_design")
        return view_failure(404, "not_found", "missing");
    const auto user = user_of(what);
    if (!user)
        return ask_for_login();
    call made{what, what.parts[0], what.parts[2], {}};
    if (is_view)
        made.view = what.parts[4];
    if (!on_.has_bucket(made.bucket))
        return view_failure(404, "not_found", "no_couchbase_bucket_exists");
    if (!may_open(*user, made.bucket))
        return view_failure(403, "forbidden", "no right to use this bucket");
    return dispatch(made);
}

http_reply views_service::dispatch(const call& what)
{
    const std::string& method = what.request.method;
    if (!what.view.empty()) {
        if (method == "GET" || method == "POST")
            return query(what);
    } else if (method == "PUT") {
        return put_design(what);
    } else if (method == "GET") {
        return get_design(what);
    } else if (method == "DELETE") {
        return drop_design(what);
    }
    return view_failure(405, "method_not_allowed", "Only GET, POST, PUT and DELETE are allowed");
}

http_reply views_service::put_design(const call& what)
{
    auto read = read_design_document(what.request.body);
    if (!read)
        return view_failure(400, "invalid_design_document", read.error().message());
    auto& all = designs_of(what.bucket);
    if (!all.contains(what.design) && all.size() == most_designs)
        return view_failure(400, "invalid_design_document", "there can be 100 at most");
    design_document& at = all[what.design];
    read->revision = at.revision + 1;
    at = *std::move(read);
    const std::string id = "_design/" + what.design;
    return view_reply_of(
        boost::json::object{{"ok", true}, {"id", boost::json::string{id.data(), id.size()}}}, 201);
}

http_reply views_service::get_design(const call& what)
{
    const auto& all = designs_of(what.bucket);
    const auto found = all.find(what.design);
    return found == all.end() ? view_failure(404, "not_found", "missing")
                              : view_reply_of(found->second.body);
}

http_reply views_service::drop_design(const call& what)
{
    auto& all = designs_of(what.bucket);
    if (all.erase(what.design) == 0)
        return view_failure(404, "not_found", "missing");
    const std::string id = "_design/" + what.design;
    return view_reply_of(
        boost::json::object{{"ok", true}, {"id", boost::json::string{id.data(), id.size()}}});
}

http_reply views_service::query(const call& what)
{
    const auto& all = designs_of(what.bucket);
    const auto design = all.find(what.design);
    if (design == all.end())
        return view_failure(404, "not_found",
                            "Design document _design/" + what.design + " not found");
    const auto view = design->second.views.find(what.view);
    if (view == design->second.views.end())  // padded, as real servers do it
        return view_failure(404, "not_found",
                            "Error opening view `" + what.view + "`, from set `" + what.bucket +
                                "`, design document `_design/" + what.design + "`: {not_found,\n" +
                                std::string(90, ' ') + "missing_named_view}");
    const auto form = read_form(what.request.query);
    auto read = form ? read_view_query(*form, what.request.body)
                     : refused_view("the query of the path cannot be read");
    if (!read)
        return view_failure(400, "query_parse_error", read.error().message());
    auto pending = std::make_shared<pending_view>();
    pending->what = *std::move(read);
    pending->bucket = what.bucket;
    pending->view = view->second;
    pending->began = world_.steady_now();
    if (pending->what.waits)
        pending->wanted = index_.all_changes(what.bucket);
    if (auto done = go_on(*pending))
        return *std::move(done);
    http_reply made;
    made.later = [this, pending] { return go_on(*pending); };
    return made;
}

std::optional<http_reply> views_service::go_on(const pending_view& what)
{
    const bucket_layout* const on = on_.layout(what.bucket);
    if (!on)
        return view_failure(404, "not_found", "no_couchbase_bucket_exists");
    if (index_.has(what.bucket, what.wanted))
        return run(what, *on);
    if (world_.steady_now() - what.began >= longest_wait)
        return view_failure(500, "error", "timeout");
    return std::nullopt;
}

std::set<int> views_service::silent_nodes(const bucket_layout& in) const
{
    std::set<int> made;
    for (const std::vector<int>& row : in.map.rows) {
        const int number = row.front();
        if (number == no_node || made.contains(number))
            continue;
        const auto place = static_cast<std::size_t>(number);
        if (!on_.is_running(place) || on_.at(place).frozen)
            made.insert(number);
    }
    return made;
}

http_reply views_service::run(const pending_view& what, const bucket_layout& on)
{
    const std::set<int> silent = silent_nodes(on);
    boost::json::array errors;
    for (const int number : silent) {
        const auto place = static_cast<std::size_t>(number);
        const std::string capi = on_.address(place, "capi");
        const std::string from = "http://" + (capi.empty() ? on_.address(place) : capi) +
                                 "/_view_merge/";
        if (what.what.stops_on_error)
            return view_failure(500, from, "econnrefused");
        errors.push_back(boost::json::object{
            {"from", boost::json::string{from.data(), from.size()}}, {"reason", "econnrefused"}});
    }
    std::vector<view_row> rows;
    const auto take = [&](const std::string& id, const document& content) {
        boost::system::error_code wrong;
        boost::json::value body = boost::json::parse({content.value.data(), content.value.size()},
                                                     wrong);
        if (wrong)
            body = nullptr;
        rows.push_back(
            {id, value_of(what.view.map.key, id, body), value_of(what.view.map.value, id, body)});
    };
    index_.of(what.bucket)->each(0, world_.wall_now(), take, [&](std::uint16_t id) {
        return !silent.contains(on.map.active(id));
    });
    boost::json::object made = view_reply(what.what, what.view.reduce, std::move(rows));
    if (!errors.empty())
        made["errors"] = std::move(errors);
    return view_reply_of(made);
}

}  // namespace

std::unique_ptr<http_service> make_views_service(cluster& of, std::size_t number,
                                                 runtime::world& in)
{
    return std::make_unique<views_service>(of, number, in);
}

}  // namespace holdfast::lab::couchbase
