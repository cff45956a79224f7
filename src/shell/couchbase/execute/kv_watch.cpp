#include "shell/couchbase/execute/kv_watch.hpp"

#include "core/couchbase/retry/names.hpp"
#include "shell/couchbase/connection/late_reply.hpp"

#include <chrono>
#include <utility>

namespace holdfast::shell::couchbase {

void kv_watch::begin(kv_attempts& of)
{
    const kv_call& call = of.call_;
    observed::operation facts;
    facts.system = "couchbase";
    facts.service = core::couchbase::observed_name(core::couchbase::service_type::key_value);
    facts.name = of.order().operation;
    facts.database = call.in->bucket;
    facts.scope = call.in->scope;
    facts.collection = call.in->collection;
    facts.began = call.began;
    if (call.until.is_set())
        facts.timeout = std::chrono::duration_cast<std::chrono::milliseconds>(call.until.when() -
                                                                              call.began);
    if (!of.call_.more)
        of.call_.more = std::make_unique<kv_call::extras>();
    facts.parent = std::move(of.call_.more->parent);
    auto& watch = of.call_.more->watch.emplace(*of.cluster_->observation, std::move(facts),
                                               call.in);
    watch.encoded(of.cluster_->world.steady_now());
}

void kv_watch::attempt_began(kv_attempts& of, time_point now)
{
    if (is_on(of))
        of.call_.more->watch->attempt_began(of.route_.connection->facts(), opaque_text(of.opaque_),
                                            now);
}

void kv_watch::ended(kv_attempts& of, const error* why)
{
    const std::uint32_t retries = of.state_ ? of.state_->request.retry_attempts() : 0;
    of.call_.more->watch->ended(of.cluster_->world.steady_now(), why, retries);
}

std::unique_ptr<given_up_request> kv_watch::given_up(const kv_attempts& of,
                                                     observed::orphan_cause because)
{
    if (!is_on(of) || !of.cluster_->observation->wants_orphans())
        return nullptr;
    const observed::operation& facts = of.call_.more->watch->facts();
    return std::make_unique<given_up_request>(
        given_up_request{facts.id, facts.name, facts.timeout, because, facts.began, of.started_});
}

}  // namespace holdfast::shell::couchbase
