#pragma once
#include "client/couchbase/lab_services_scene.hpp"
#include "client/couchbase/retry_support.hpp"
#include "holdfast/couchbase/errc.hpp"

#include <memory>
#include <string>
#include <vector>

namespace holdfast::proof {

/// What became of a request, whatever its rows are.
struct outcome {
    bool good = false;
    error_code code = {};
    std::string story = {};
    std::vector<std::string> reasons = {};
    bool possibly_applied = false;
    std::string rows = {};  // the context of an error
    duration took{};
};

template <class T>
outcome outcome_of(const kv_run<T>& run)
{
    outcome made{run->good(), run->code(), run->explain()};
    made.took = run->took();
    if (run->good())
        return made;
    made.reasons = labels_of(run->error());
    made.rows = run->error().context("rows");
    for (const attempt& one : run->error().history())
        made.possibly_applied |= one.possibly_applied;
    return made;
}

class service_retries : public ::testing::Test {
protected:
    service_retries()
    {
        couchbase::cluster_options options;
        options.strategy = asked;
        scene.connect_and_wait(options);
    }

    outcome query(couchbase::query_options options = {})
    {
        return outcome_of(scene.query("SELECT 1", options));
    }
    outcome analytics(couchbase::analytics_options options = {})
    {
        auto rows = scene.client->analytics("SELECT 1", options);
        return outcome_of(scene.run(rows.all(use_awaitable)));
    }
    outcome search(couchbase::search_options options = {})
    {
        auto rows = scene.client->search("i", R"({"query":{"match_all":{}}})", options);
        return outcome_of(scene.run(rows.all(use_awaitable)));
    }
    outcome view(couchbase::view_options options = {})
    {
        auto rows = (*scene.client)["travel"].view_query("d", "v", options);
        return outcome_of(scene.run(rows.all(use_awaitable)));
    }
    outcome http(couchbase::http_method method, couchbase::http_options options = {})
    {
        return outcome_of(
            scene.run(scene.client->http(couchbase::service_type::management, method,
                                         "/pools/default/buckets", options, use_awaitable)));
    }

    /// Closes the connections of the next requests to a service, instead of an answer.
    void cut(const std::string& service, std::int64_t times)
    {
        lab::couchbase_fault what;
        what.service = service;
        what.close_connection = true;
        what.times = times;
        ASSERT_TRUE(scene.cluster->faults().set("cut", what));
    }
    std::int64_t cuts() const { return scene.cluster->faults().hits("cut"); }

    static constexpr const char* no_hits =
        R"({"status":{"total":1,"failed":0,"successful":1},"hits":[],"total_hits":0,"took":1})";
    static constexpr const char* no_rows = R"({"total_rows":0,"rows":[]})";

    std::shared_ptr<observing_strategy> asked = std::make_shared<observing_strategy>();
    lab_services_scene scene{{.nodes = 2}};
};

}  // namespace holdfast::proof
