#include "truth/couchbase/rules.hpp"

#include "api/couchbase/access.hpp"
#include "api/couchbase/cluster_impl.hpp"

#include <charconv>

namespace holdfast::truth {

class client_rules::listener final : public couchbase::event_listener {
public:
    listener(client_rules& of, const couchbase_deeds& deeds) : of_{of}, deeds_{deeds} {}

    void on(const couchbase::connection_opened& e) override
    {
        const std::string& server = e.server.value();
        if (deeds_.unproven.contains(server.substr(0, server.find(':'))))
            of_.broken_ += "a connection to " + server + " was opened without its proof\n";
    }

    void on(const couchbase::request_retried& e) override
    {
        if (!e.scheduled)
            return;
        ++of_.counts_.retries;
        if (e.reason == couchbase::retry_reason::kv_temporary_failure)
            ++of_.counts_.refusals;
        if (e.reason == couchbase::retry_reason::kv_not_my_vbucket)
            ++of_.misrouted_;
    }
    void on(const couchbase::config_changed& e) override
    {
        std::int64_t revision = 0;
        std::from_chars(e.revision.data(), e.revision.data() + e.revision.size(), revision);
        std::int64_t& last = last_[e.bucket];
        if (revision <= last)
            of_.broken_ += "a configuration went back from revision " + std::to_string(last) +
                           " to " + e.revision + '\n';
        last = revision;
    }

private:
    client_rules& of_;
    const couchbase_deeds& deeds_;
    std::map<std::string, std::int64_t> last_;
};

std::shared_ptr<couchbase::event_listener> client_rules::make_listener(const couchbase_deeds& deeds)
{
    return std::make_shared<listener>(*this, deeds);
}

std::string client_rules::complaints(const couchbase_deeds& deeds, std::size_t coroutines) const
{
    std::string made = broken_;
    // Three for each move and coroutine; and while a vbucket is nowhere for some seconds, some more
    // of those who have business there.
    const std::uint64_t most = 3 * coroutines * (deeds.moves + 10) + deeds.refusals;
    if (misrouted_ > most)
        made += std::to_string(misrouted_) + " requests went to nodes without their vbucket, of " +
                std::to_string(most) + " that moves explain\n";
    return made;
}

std::string check_recovery(std::span<const drill::operation> history, time_point from,
                           duration longest)
{
    std::string made;
    for (const drill::operation& one : history) {
        if (one.began < from)
            continue;
        const auto after = std::chrono::duration_cast<std::chrono::milliseconds>(one.began - from);
        const std::string which = std::string{name_of(one.what)} + " of client " +
                                  std::to_string(one.client) + ", begun " +
                                  std::to_string(after.count()) + " ms after the time to recover, ";
        if (one.end != drill::fate::acknowledged)
            made += which + "has failed: " + one.reason + '\n';
        else if (one.ended - one.began > longest)
            made += which + "took too long\n";
    }
    return made;
}

std::string check_slots(const couchbase::cluster& of)
{
    std::string made;
    for (const auto& bucket : couchbase::access::impl_of(of)->nodes().buckets()) {
        for (const auto& link : bucket->links()) {
            const auto connection = link->current();
            if (!connection)
                continue;
            const auto slots = connection->statistics();
            if (slots.waiting + slots.abandoned != 0)
                made += std::to_string(slots.waiting) + " waiting and " +
                        std::to_string(slots.abandoned) + " abandoned slots of the connection to " +
                        connection->server().value() +
                        " are in use after all operations have ended\n";
        }
    }
    return made;
}

}  // namespace holdfast::truth
