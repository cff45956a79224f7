#include "lab/api/couchbase_services.hpp"

#include "lab/couchbase/analytics/analytics_service.hpp"
#include "lab/couchbase/mgmt/management.hpp"
#include "lab/couchbase/query/query_service.hpp"
#include "lab/couchbase/search/search_service.hpp"
#include "lab/couchbase/views/views_service.hpp"

namespace holdfast::lab::couchbase {

std::vector<offered_service> all_services_offered()
{
    return {
        {"mgmt", make_management, {}},
        {"n1ql", make_query_service, {"enhancedPreparedStatements"}},
        {"cbas", make_analytics_service, {}},
        {"capi", make_views_service, {}},
        {"fts", make_search_service, {"vectorSearch", "scopedSearchIndex"}},
    };
}

}  // namespace holdfast::lab::couchbase
