#include "core/couchbase/retry/health.hpp"

#include <algorithm>

namespace holdfast::core::couchbase {

namespace {

/// The RFC prints 0x2. What a server sends for wrong credentials is 0x20; it never sends 0x02
/// ("exists") at this step, so both can be taken for a plain no without any risk.
bool rejects_credentials(kv_status status)
{
    return status == kv_status::auth_error || status == kv_status::exists;
}

template <class Set>
void erase(Set& set, std::string_view name)
{
    if (const auto found = set.find(name); found != set.end())
        set.erase(found);
}

}  // namespace

void health::track(tracker_id id)
{
    trackers_.try_emplace(id);
}

void health::forget(tracker_id id)
{
    trackers_.erase(id);
}

health::tracker* health::find(tracker_id id)
{
    const auto found = trackers_.find(id);
    return found == trackers_.end() ? nullptr : &found->second;
}

void health::sasl_answered(tracker_id id, kv_status status)
{
    tracker* const one = find(id);
    if (!one)
        return;
    if (rejects_credentials(status))
        one->rejected = true;
    else if (status == kv_status::success)
        one->rejected = false;
}

void health::tls_failed(tracker_id id, std::string_view what_the_library_says)
{
    if (tracker* const one = find(id))
        one->tls_failure = what_the_library_says;
}

void health::tls_passed(tracker_id id)
{
    if (tracker* const one = find(id))
        one->tls_failure.reset();
}

void health::select_bucket_answered(std::string_view bucket, kv_status status)
{
    // "Not found" is normal on a node without the data service, so it says nothing of the bucket.
    if (status == kv_status::no_access)
        denied_.emplace(bucket);
    else if (status == kv_status::success)
        erase(denied_, bucket);
}

void health::manifest_fetched(std::string_view bucket)
{
    manifests_.emplace(bucket);
}

void health::bucket_closed(std::string_view bucket)
{
    erase(denied_, bucket);
    erase(manifests_, bucket);
}

std::optional<health::fact> health::terminal_fact(service_type service,
                                                  std::string_view bucket) const
{
    for (const auto& [id, one] : trackers_)
        if (one.rejected)
            return fact{retry_reason::authentication_error, "a node has refused the login"};
    for (const auto& [id, one] : trackers_)
        if (one.tls_failure)
            return fact{retry_reason::tls_error, "the TLS library says: " + *one.tls_failure};
    if (service == service_type::key_value && denied_.contains(bucket))
        return fact{retry_reason::bucket_access_error,
                    "bucket \"" + std::string{bucket} + "\" does not exist or is denied"};
    return std::nullopt;
}

}  // namespace holdfast::core::couchbase
