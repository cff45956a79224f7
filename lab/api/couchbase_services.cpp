#include "lab/api/couchbase_services.hpp"

#include "lab/couchbase/mgmt/management.hpp"
#include "lab/couchbase/search/search_service.hpp"

namespace holdfast::lab::couchbase {

std::vector<offered_service> all_services_offered()
{
    return {
        {"mgmt", make_management, {}},
        {"fts", make_search_service, {"vectorSearch", "scopedSearchIndex"}},
    };
}

}  // namespace holdfast::lab::couchbase
