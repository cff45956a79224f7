#include "lab/api/couchbase_services.hpp"

#include "lab/couchbase/mgmt/management.hpp"

namespace holdfast::lab::couchbase {

std::vector<offered_service> all_services_offered()
{
    return {
        {"mgmt", make_management, {}},
    };
}

}  // namespace holdfast::lab::couchbase
