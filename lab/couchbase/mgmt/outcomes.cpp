#include "lab/couchbase/mgmt/outcomes.hpp"

#include "holdfast/couchbase/errc.hpp"

namespace holdfast::lab::couchbase {

result<void> manifest_outcome(manifest_change change, const std::string& what)
{
    using couchbase_errc = holdfast::couchbase::errc;
    const auto refused = [&](couchbase_errc code, const char* why) {
        return error{code, what + ": " + why};
    };
    switch (change) {
    case manifest_change::done:
        return {};
    case manifest_change::exists:
        return refused(couchbase_errc::invalid_argument, "it exists");
    case manifest_change::no_scope:
        return refused(couchbase_errc::scope_not_found, "there is no such scope");
    case manifest_change::no_collection:
        return refused(couchbase_errc::collection_not_found, "there is no such collection");
    case manifest_change::invalid_name:
        return refused(couchbase_errc::invalid_argument, "this name is not allowed");
    }
    return {};
}

}  // namespace holdfast::lab::couchbase
