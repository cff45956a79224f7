#include "holdfast/couchbase/errc.hpp"
#include "lab/couchbase/mgmt/command_table.hpp"
#include "lab/couchbase/mgmt/outcomes.hpp"

#include <utility>

namespace holdfast::lab::couchbase {

namespace {

using couchbase_errc = holdfast::couchbase::errc;

template <class Change>
result<void> change_collections(command_call& call, const char* what, Change change)
{
    const std::string& bucket = call.given[0];
    if (!call.on.has_bucket(bucket))
        return error{couchbase_errc::bucket_not_found, "there is no bucket '" + bucket + "'"};
    return manifest_outcome(change(), std::string{what} + " '" + call.given.back() + "'");
}

}  // namespace

result<void> command_bucket(command_call& call)
{
    std::size_t replicas = 0;
    if (call.given.size() == 2) {
        const auto wanted = call.number(1);
        if (!wanted)
            return wanted.error();
        replicas = *wanted;
    }
    return call.on.create_bucket(call.given[0], replicas);
}

result<void> command_drop_bucket(command_call& call)
{
    return call.on.drop_bucket(call.given[0]);
}

result<void> command_flush(command_call& call)
{
    return call.on.flush_bucket(call.given[0]);
}

result<void> command_scope(command_call& call)
{
    return change_collections(call, "scope",
                              [&] { return call.on.create_scope(call.given[0], call.given[1]); });
}

result<void> command_drop_scope(command_call& call)
{
    return change_collections(call, "scope",
                              [&] { return call.on.drop_scope(call.given[0], call.given[1]); });
}

result<void> command_collection(command_call& call)
{
    return change_collections(call, "collection", [&] {
        return call.on.create_collection(call.given[0], call.given[1], call.given[2]);
    });
}

result<void> command_drop_collection(command_call& call)
{
    return change_collections(call, "collection", [&] {
        return call.on.drop_collection(call.given[0], call.given[1], call.given[2]);
    });
}

result<void> command_user(command_call& call)
{
    std::vector<std::string> buckets{call.given.begin() + 2, call.given.end()};
    return call.on.set_user(call.given[0], call.given[1], std::move(buckets));
}

result<void> command_drop_user(command_call& call)
{
    call.on.drop_user(call.given[0]);
    return {};
}

result<void> command_token(command_call& call)
{
    call.on.set_token(call.given[0], call.given.size() == 2 ? call.given[1] : "");
    return {};
}

result<void> command_expire_logins(command_call& call)
{
    call.on.expire_logins(call.given[0]);
    return {};
}

}  // namespace holdfast::lab::couchbase
