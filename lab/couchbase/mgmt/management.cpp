#include "lab/couchbase/mgmt/management.hpp"

#include "lab/couchbase/mgmt/routes.hpp"

#include <boost/json/serialize.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::lab::couchbase {

namespace {

/// The parts that stand in the place of stars; none if the path is another one.
std::optional<std::vector<std::string>> match_path(std::string_view pattern,
                                                   const std::vector<std::string>& parts)
{
    const auto wanted = split_path(pattern);
    if (!wanted || wanted->size() != parts.size())
        return std::nullopt;
    std::vector<std::string> names;
    for (std::size_t n = 0; n != parts.size(); ++n) {
        if ((*wanted)[n] == "*")
            names.push_back(parts[n]);
        else if ((*wanted)[n] != parts[n])
            return std::nullopt;
    }
    return names;
}

http_reply ask_for_login()
{
    http_reply made = refuse(401, "a login is needed");
    made.headers.emplace_back("WWW-Authenticate", R"(Basic realm="Couchbase Server Admin / REST")");
    return made;
}

class management final : public http_service {
public:
    management(cluster& of, std::size_t number, runtime::world& in)
        : cluster_{of}, number_{number}, news_{in}
    {
    }

    http_reply answer(const http_request& what) override;
    std::optional<http_fault> fault_for(const http_request& what) override;
    runtime::event& news() override { return news_; }
    bool frozen() const override { return cluster_.at(number_).frozen; }
    std::size_t chunk_size() const override { return cluster_.at(number_).options.http_chunk_size; }

private:
    /// The user of the request, if the password is right.
    std::optional<std::string> user_of(const http_request& what) const;
    http_reply run(const route& found, route_call& call) const;

    cluster& cluster_;
    std::size_t number_;
    runtime::event news_;
};

std::optional<std::string> management::user_of(const http_request& what) const
{
    const auto login = read_basic_login(what.authorization);
    if (!login)
        return std::nullopt;
    const auto& users = cluster_.at(number_).users;
    const auto account = users.find(login->user);
    if (account == users.end() || !is_password(account->second, login->password))
        return std::nullopt;
    return login->user;
}

http_reply management::run(const route& found, route_call& call) const
{
    if (found.needs != access::all) {
        auto user = user_of(call.request);
        if (!user)
            return ask_for_login();
        call.user = *std::move(user);
    }
    if (found.needs == access::administrator &&
        !cluster_.admin().people().is_administrator(call.user))
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
            route_call call{cluster_, number_, what};
            call.names = *std::move(names);
            return run(one, call);
        }
    }
    return known_path ? refuse(405, "Method Not Allowed") : refuse(404, "Object Not Found");
}

std::optional<http_fault> management::fault_for(const http_request& what)
{
    http_fault_plan& plan = cluster_.admin().http_faults(number_);
    if (!plan.any())
        return std::nullopt;
    return plan.on_any({what.method, what.path}, 0);
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
