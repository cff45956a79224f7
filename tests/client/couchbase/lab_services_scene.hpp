#pragma once
#include "client/couchbase/kv_scene.hpp"
#include "lab/couchbase/http/message.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::proof {

/// A request that came to a service.
struct service_request_seen {
    std::string service = {};  // as in configurations: "n1ql"
    std::size_t node = 0;
    time_point at{};
    lab::couchbase::http_request what = {};

    /// The member of that name of a body that is JSON, as text: "true", "\"x\""; or nothing.
    std::string member(std::string_view name) const;
};

/// What services answer, and what they were asked.
struct service_script {
    using answer = std::function<lab::couchbase::http_reply(const service_request_seen&)>;

    std::map<std::string, answer, std::less<>> answers = {};  // by service
    std::vector<service_request_seen> seen = {};
};

/// The bodies of replies.
lab::couchbase::http_reply reply_of(int status, std::string body);
/// Of query and analytics: the rows are JSON.
lab::couchbase::http_reply reply_with_rows(const std::vector<std::string>& rows,
                                           std::string_view more = {});
lab::couchbase::http_reply reply_with_code(int code, std::string_view message,
                                           std::string_view more = {});
/// The first answers in their order, then the last again and again.
service_script::answer answers_in_order(std::vector<lab::couchbase::http_reply> replies);

/// Nodes that have all services, which answer what a test says: query, analytics, search and views
/// do; management is the lab's own until a test answers for it.
class lab_services_scene : public kv_scene {
public:
    explicit lab_services_scene(kv_scene_options what = {});

    void answer(std::string service, service_script::answer by);
    void answer(const std::string& service, lab::couchbase::http_reply always);
    /// What a service was asked so far.
    std::vector<service_request_seen> seen(std::string_view service) const;
    std::size_t asked(std::string_view service) const { return seen(service).size(); }
    void forget_seen() { script_->seen.clear(); }

    /// Runs until the client knows the configuration.
    void connect_and_wait(couchbase::cluster_options options = {}, const std::string& more = {});

    /// All rows of a statement, each as its text.
    kv_run<std::vector<couchbase::raw_json>> query(std::string_view statement,
                                                   couchbase::query_options options = {})
    {
        auto rows = client->query(statement, options);
        return run(rows.all<couchbase::raw_json>(use_awaitable));
    }

private:
    lab_services_scene(kv_scene_options what, std::shared_ptr<service_script> script);

    std::shared_ptr<service_script> script_;
};

}  // namespace holdfast::proof
