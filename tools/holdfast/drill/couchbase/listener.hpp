#pragma once
#include "holdfast/couchbase/events.hpp"
#include "tools/holdfast/drill/client.hpp"

namespace holdfast::drill {

/// Counts what the clusters of a workload retry, and what servers refuse.
class couchbase_listener final : public couchbase::event_listener {
public:
    explicit couchbase_listener(client_counts& counts) : counts_{counts} {}

    void on(const couchbase::request_retried& e) override
    {
        if (!e.scheduled)
            return;
        ++counts_.retries;
        if (e.reason == couchbase::retry_reason::kv_temporary_failure)
            ++counts_.refusals;
    }

private:
    client_counts& counts_;
};

}  // namespace holdfast::drill
