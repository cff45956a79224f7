#include "client/couchbase/lab_services_scene.hpp"

#include "lab/couchbase/cluster/node_service.hpp"
#include "lab/couchbase/mgmt/management.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace holdfast::proof {

namespace {

using lab::couchbase::http_reply;
using lab::couchbase::http_request;

/// Answers what the script has, or what another service does.
class scripted_service final : public lab::couchbase::node_service {
public:
    scripted_service(lab::couchbase::cluster& of, std::size_t number, std::string name,
                     runtime::world& in, std::shared_ptr<service_script> script,
                     std::unique_ptr<lab::couchbase::http_service> otherwise)
        : node_service{of, number, name, in},
          called_{std::move(name)},
          script_{std::move(script)},
          otherwise_{std::move(otherwise)}
    {
    }

    http_reply answer(const http_request& what) override
    {
        if (!user_of(what))
            return ask_for_login();
        service_request_seen now{called_, number_, world_.steady_now(), what};
        script_->seen.push_back(now);
        const auto found = script_->answers.find(called_);
        if (found != script_->answers.end())
            return found->second(now);
        return otherwise_ ? otherwise_->answer(what) : reply_of(404, "{}");
    }

private:
    std::string called_;
    std::shared_ptr<service_script> script_;
    std::unique_ptr<lab::couchbase::http_service> otherwise_;
};

lab::couchbase::offered_service offer(const std::string& name,
                                      const std::shared_ptr<service_script>& script,
                                      std::vector<std::string> capabilities = {})
{
    const auto make = [name, script](lab::couchbase::cluster& of, std::size_t number,
                                     runtime::world& in) {
        return std::make_unique<scripted_service>(
            of, number, name, in, script,
            name == "mgmt" ? lab::couchbase::make_management(of, number, in) : nullptr);
    };
    return {name, make, std::move(capabilities)};
}

}  // namespace

std::string service_request_seen::member(std::string_view name) const
{
    boost::json::error_code bad;
    const boost::json::value body = boost::json::parse(what.body, bad);
    if (bad || !body.is_object())
        return {};
    const boost::json::value* const found = body.get_object().if_contains(name);
    return found != nullptr ? boost::json::serialize(*found) : std::string{};
}

http_reply reply_of(int status, std::string body)
{
    http_reply made;
    made.status = status;
    made.body = std::move(body);
    return made;
}

http_reply reply_with_rows(const std::vector<std::string>& rows, std::string_view more)
{
    std::string text = R"({"requestID":"r1","signature":"*","results":[)";
    for (const std::string& row : rows)
        text += (&row == rows.data() ? "" : ",") + row;
    text += R"(],"status":"success","metrics":{"elapsedTime":"2ms","resultCount":)" +
            std::to_string(rows.size()) + "}";
    return reply_of(200, text.append(more) + "}");
}

http_reply reply_with_code(int code, std::string_view message, std::string_view more)
{
    return reply_of(400, R"({"requestID":"r1","errors":[{"code":)" + std::to_string(code) +
                             R"(,"msg":")" + std::string{message} + '"' + std::string{more} +
                             R"(}],"status":"fatal"})");
}

service_script::answer answers_in_order(std::vector<http_reply> replies)
{
    auto next = std::make_shared<std::size_t>(0);
    return [replies = std::move(replies), next](const service_request_seen&) {
        const std::size_t at = std::min((*next)++, replies.size() - 1);
        return replies[at];
    };
}

lab_services_scene::lab_services_scene(kv_scene_options what)
    : lab_services_scene{std::move(what), std::make_shared<service_script>()}
{
}

lab_services_scene::lab_services_scene(kv_scene_options what,
                                       std::shared_ptr<service_script> script)
    : kv_scene{[&] {
          what.adjust = [script, more = what.adjust](lab::couchbase::cluster_options& options) {
              options.services = {
                  offer("mgmt", script), offer("n1ql", script, {"enhancedPreparedStatements"}),
                  offer("cbas", script), offer("fts", script), offer("capi", script)};
              if (more)
                  more(options);
          };
          return std::move(what);
      }()},
      script_{std::move(script)}
{
}

void lab_services_scene::answer(std::string service, service_script::answer by)
{
    script_->answers[std::move(service)] = std::move(by);
}

void lab_services_scene::answer(const std::string& service, http_reply always)
{
    answer(service, [reply = std::move(always)](const service_request_seen&) { return reply; });
}

std::vector<service_request_seen> lab_services_scene::seen(std::string_view service) const
{
    std::vector<service_request_seen> some;
    for (const service_request_seen& one : script_->seen) {
        if (one.service == service)
            some.push_back(one);
    }
    return some;
}

void lab_services_scene::connect_and_wait(couchbase::cluster_options options,
                                          const std::string& more)
{
    connect(std::move(options), more);
    const auto ready = run(client->ready({}, use_awaitable));
    EXPECT_TRUE(ready->good()) << ready->explain();
}

}  // namespace holdfast::proof
