#include "lab/couchbase/mgmt/management.hpp"

#include "lab/couchbase/cluster/node_service.hpp"
#include "lab/couchbase/mgmt/routes.hpp"

#include <boost/json/serialize.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::lab::couchbase {

namespace {

class management final : public node_service {
public:
    management(cluster& of, std::size_t number, runtime::world& in)
        : node_service{of, number, "mgmt", in}
    {
    }

    http_reply answer(const http_request& what) override;

private:
    http_reply run(const route& found, route_call& call);
};

http_reply management::run(const route& found, route_call& call)
{
    if (found.needs != access::all) {
        auto user = user_of(call.request);
        if (!user)
            return ask_for_login();
        call.user = *std::move(user);
    }
    if (found.needs == access::administrator && !on_.admin().people().is_administrator(call.user))
        return refuse(403, "Forbidden. User needs one of the following permissions: admin");
    const bool has_form = call.request.content_type.starts_with(
        "application/x-www-form-urlencoded");
    auto form = read_form(has_form ? call.request.body : call.request.query);
    if (!form)
        return refuse(400, "the form cannot be read");
    call.form = *std::move(form);
    return found.answer(call);
}

http_reply management::answer(const http_request& what)
{
    bool known_path = false;
    for (const auto routes : {pool_routes(), bucket_routes(), collection_routes(), user_routes(),
                              membership_routes(), lab_routes()}) {
        for (const route& one : routes) {
            auto names = match_path(one.path, what.parts);
            if (!names)
                continue;
            known_path = true;
            if (one.method != what.method)
                continue;
            route_call call{on_, number_, what};
            call.names = *std::move(names);
            return run(one, call);
        }
    }
    return known_path ? refuse(405, "Method Not Allowed") : refuse(404, "Object Not Found");
}

}  // namespace

std::unique_ptr<http_service> make_management(cluster& of, std::size_t number, runtime::world& in)
{
    return std::make_unique<management>(of, number, in);
}

std::string route_call::field(std::string_view name) const
{
    const auto found = form.find(name);
    return found == form.end() ? std::string{} : found->second;
}

http_reply json_reply(const boost::json::value& body, int status)
{
    http_reply made;
    made.status = status;
    made.body = boost::json::serialize(body);
    return made;
}

http_reply wrong_field(std::string_view name, std::string_view why)
{
    boost::json::object errors;
    errors[boost::json::string_view{name.data(), name.size()}] = json_text(why);
    return json_reply(boost::json::object{{"errors", std::move(errors)}}, 400);
}

boost::json::string json_text(std::string_view text)
{
    return boost::json::string{text.data(), text.size()};
}

}  // namespace holdfast::lab::couchbase
