#include "lab/mongo/set/hello_fields.hpp"

#include "lab/mongo/set/message_fields.hpp"
#include "lab/mongo/set/votes.hpp"

namespace holdfast::lab::mongo {
namespace {

using chosen = bool (*)(const member_config&);

void write_hosts(bson::builder& into, const set_config& config, std::string_view key, chosen which)
{
    bool any = key == "hosts";
    for (const member_config& m : config.members)
        any = any || which(m);
    if (!any)
        return;
    bson::array_builder hosts = into.array(key);
    for (const member_config& m : config.members) {
        if (which(m))
            hosts.add(m.host);
    }
}

bool is_host(const member_config& m)
{
    return !m.hidden && !m.arbiter_only && m.priority > 0;
}
bool is_passive(const member_config& m)
{
    return !m.hidden && !m.arbiter_only && m.priority <= 0;
}
bool is_arbiter(const member_config& m)
{
    return !m.hidden && m.arbiter_only;
}

bson::datetime date_of(const optime& at)
{
    return bson::datetime{std::chrono::seconds{at.ts.seconds}};
}

void write_last(bson::builder& hello, const optime& last, const optime& committed)
{
    bson::builder into = hello.document("lastWrite");
    write_optime(into, "opTime", last);
    into.add("lastWriteDate", date_of(last));
    write_optime(into, "majorityOpTime", committed);
    into.add("majorityWriteDate", date_of(committed));
}

}  // namespace

void write_hello_fields(bson::builder& hello, const member_role& role, const optime& committed,
                        bool legacy)
{
    const std::string_view is_primary = legacy ? "ismaster" : "isWritablePrimary";
    const member_config* const own = role.self();
    const set_config& config = role.config();
    if (!role.has_config() || !own) {
        hello.add(is_primary, false).add("secondary", false);
        hello.add("info", "Does not have a valid replica set config").add("isreplicaset", true);
        return;
    }
    write_hosts(hello, config, "hosts", is_host);
    write_hosts(hello, config, "passives", is_passive);
    write_hosts(hello, config, "arbiters", is_arbiter);
    hello.add("setName", config.name)
        .add("setVersion", static_cast<std::int32_t>(config.version))
        .add(is_primary, role.primary())
        .add("secondary", role.state() == member_state::secondary && !role.maintenance() &&
                              !role.stepping_down());
    if (const std::string_view primary = role.primary_host(); !primary.empty())
        hello.add("primary", primary);
    if (own->arbiter_only)
        hello.add("arbiterOnly", true);
    if (own->priority <= 0 && !own->arbiter_only)
        hello.add("passive", true);
    if (own->hidden)
        hello.add("hidden", true);
    if (!own->build_indexes)
        hello.add("buildIndexes", false);
    if (own->delay_secs > 0)
        hello.add("secondaryDelaySecs", own->delay_secs);
    if (!own->tags.empty()) {
        bson::builder tags = hello.document("tags");
        for (const auto& [name, value] : own->tags)
            tags.add(name, value);
    }
    hello.add("me", own->host);
    if (role.primary())
        hello.add("electionId", election_id(role.term()));
    write_last(hello, role.last(), committed);
}

}  // namespace holdfast::lab::mongo
