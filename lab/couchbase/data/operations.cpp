#include "lab/couchbase/data/operations.hpp"

#include "lab/couchbase/data/json_check.hpp"
#include "lab/couchbase/data/json_scan.hpp"

#include <charconv>
#include <system_error>
#include <utility>

namespace holdfast::lab::couchbase {

namespace {

constexpr std::uint32_t longest_relative_expiry = 30 * 24 * 60 * 60;
constexpr std::uint32_t do_not_create = 0xffffffff;

std::uint32_t unix_seconds(wall_time now)
{
    return static_cast<std::uint32_t>(
        std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count());
}

bool expired(const document& at, wall_time now)
{
    return at.expiry != 0 && at.expiry <= unix_seconds(now);
}

kv_status check_key(const doc_key& key)
{
    return key.name.empty() || key.name.size() > max_key_bytes ? kv_status::invalid
                                                               : kv_status::success;
}

read_reply read(const document& at, wall_time now)
{
    read_reply reply;
    reply.cas = at.locked(now) ? locked_cas : at.cas;
    reply.flags = at.flags;
    reply.value = at.value;
    reply.json = at.json;
    reply.compressed = at.compressed;
    return reply;
}

read_reply failed_read(kv_status why)
{
    read_reply reply;
    reply.code = why;
    return reply;
}

/// For what refuses a locked document whatever its CAS.
struct unlocked_document {
    kv_status code = kv_status::success;
    const document* at = nullptr;
};

unlocked_document find_unlocked(vbucket& in, const doc_key& key, wall_time now)
{
    const document* const at = find_live(in, key, now);
    if (!at)
        return {kv_status::not_found, nullptr};
    return {at->locked(now) ? kv_status::locked : kv_status::success, at};
}

}  // namespace

const document* find_live(vbucket& in, const doc_key& key, wall_time now)
{
    const document* const at = in.find(key);
    if (!at || at->deleted)
        return nullptr;
    if (!expired(*at, now))
        return at;
    if (in.current_state() != vbucket::state::active)
        return nullptr;  // the tombstone comes from the active copy
    document gone;
    gone.deleted = true;
    gone.xattrs = system_xattrs(at->xattrs);
    in.expire(key, std::move(gone), now);
    return nullptr;
}

std::uint32_t absolute_expiry(std::uint32_t sent, wall_time now)
{
    return sent == 0 || sent > longest_relative_expiry ? sent : unix_seconds(now) + sent;
}

kv_status check_cas(const document& at, std::uint64_t cas, wall_time now)
{
    if (at.locked(now))
        return cas == at.cas ? kv_status::success : kv_status::locked;
    return cas == 0 || cas == at.cas ? kv_status::success : kv_status::exists;
}

mutation_reply stored_reply(const vbucket& in, const document& made)
{
    return {kv_status::success, made.cas, in.uuid(), made.seqno};
}

mutation_reply failed_mutation(kv_status why)
{
    mutation_reply reply;
    reply.code = why;
    return reply;
}

std::string system_xattrs(std::string_view xattrs)
{
    std::string kept;
    if (xattrs.empty())
        return kept;
    json_entries all{xattrs, root_of(xattrs)};
    while (const auto one = all.next()) {
        if (!one->key.of(xattrs).starts_with("\"_"))
            continue;
        kept += kept.empty() ? "{" : ",";
        kept.append(xattrs.substr(one->key.begin, one->value.end - one->key.begin));
    }
    return kept.empty() ? kept : kept + "}";
}

read_reply get(vbucket& in, const doc_key& key, wall_time now)
{
    const document* const at = find_live(in, key, now);
    return at ? read(*at, now) : failed_read(kv_status::not_found);
}

read_reply get_and_touch(vbucket& in, const doc_key& key, std::uint32_t expiry, wall_time now)
{
    if (const auto touched = touch(in, key, expiry, now); touched.code != kv_status::success)
        return failed_read(touched.code);
    // Read as stored: an expiry in the past takes effect with the next operation.
    return read(*in.find(key), now);
}

mutation_reply touch(vbucket& in, const doc_key& key, std::uint32_t expiry, wall_time now)
{
    const auto found = find_unlocked(in, key, now);
    if (found.code != kv_status::success)
        return failed_mutation(found.code);
    document made = *found.at;
    made.expiry = absolute_expiry(expiry, now);
    return stored_reply(in, in.store(key, std::move(made), now));
}

read_reply get_and_lock(vbucket& in, const doc_key& key, std::uint32_t seconds, wall_time now)
{
    const auto found = find_unlocked(in, key, now);
    if (found.code != kv_status::success)
        return failed_read(found.code);
    const std::chrono::seconds asked{seconds};
    const auto time = asked.count() == 0 || asked > max_lock_time ? default_lock_time : asked;
    read_reply reply = read(*found.at, now);
    reply.cas = in.lock(key, now + time, now);
    return reply;
}

kv_status unlock(vbucket& in, const doc_key& key, std::uint64_t cas, wall_time now)
{
    if (cas == 0)
        return kv_status::invalid;
    const document* const at = find_live(in, key, now);
    if (!at)
        return kv_status::not_found;
    if (!at->locked(now))
        return kv_status::not_locked;
    if (cas != at->cas)
        return kv_status::locked;
    in.unlock(key);
    return kv_status::success;
}

mutation_reply store(vbucket& in, store_mode mode, const doc_key& key, new_content content,
                     wall_time now)
{
    if (const kv_status wrong = check_key(key); wrong != kv_status::success)
        return failed_mutation(wrong);
    if (content.value.size() > max_value_bytes)
        return failed_mutation(kv_status::too_big);
    const document* const at = find_live(in, key, now);
    if (mode == store_mode::add) {
        if (content.cas != 0 || content.preserve_expiry)
            return failed_mutation(kv_status::invalid);
        if (at)
            return failed_mutation(kv_status::exists);
    } else if (!at && (mode == store_mode::replace || content.cas != 0)) {
        return failed_mutation(kv_status::not_found);
    }
    if (at) {
        const kv_status refused = check_cas(*at, content.cas, now);
        if (refused != kv_status::success)
            return failed_mutation(refused);
    }
    document made;
    made.json = is_json(content.value);
    made.value = std::move(content.value);
    made.flags = content.flags;
    made.compressed = content.compressed;
    made.expiry = absolute_expiry(content.expiry, now);
    if (at) {
        made.xattrs = at->xattrs;
        if (content.preserve_expiry)
            made.expiry = at->expiry;
    }
    return stored_reply(in, in.store(key, std::move(made), now));
}

mutation_reply remove(vbucket& in, const doc_key& key, std::uint64_t cas, wall_time now)
{
    const document* const at = find_live(in, key, now);
    if (!at)
        return failed_mutation(kv_status::not_found);
    if (const kv_status refused = check_cas(*at, cas, now); refused != kv_status::success)
        return failed_mutation(refused);
    document gone;
    gone.deleted = true;
    gone.xattrs = system_xattrs(at->xattrs);
    return stored_reply(in, in.store(key, std::move(gone), now));
}

mutation_reply extend(vbucket& in, extend_at where, const doc_key& key, std::string_view bytes,
                      std::uint64_t cas, wall_time now)
{
    const document* const at = find_live(in, key, now);
    if (!at)
        return failed_mutation(kv_status::not_stored);
    if (const kv_status refused = check_cas(*at, cas, now); refused != kv_status::success)
        return failed_mutation(refused);
    if (at->value.size() + bytes.size() > max_value_bytes)
        return failed_mutation(kv_status::too_big);
    document made = *at;
    made.value.insert(where == extend_at::front ? 0 : made.value.size(), bytes);
    made.json = is_json(made.value);
    return stored_reply(in, in.store(key, std::move(made), now));
}

counter_reply count(vbucket& in, const doc_key& key, const counter_change& change, wall_time now)
{
    const document* const at = find_live(in, key, now);
    if (!at) {
        if (change.expiry == do_not_create)
            return {failed_mutation(kv_status::not_found), 0};
        new_content first;
        first.value = std::to_string(change.initial);
        first.expiry = change.expiry;
        first.cas = change.cas;
        return {store(in, store_mode::set, key, std::move(first), now), change.initial};
    }
    if (const kv_status refused = check_cas(*at, change.cas, now); refused != kv_status::success)
        return {failed_mutation(refused), 0};
    std::uint64_t number = 0;
    const char* const end = at->value.data() + at->value.size();
    const auto [read_to, problem] = std::from_chars(at->value.data(), end, number);
    if (problem != std::errc{} || read_to != end)
        return {failed_mutation(kv_status::delta_bad_value), 0};
    if (!change.decrement)
        number += change.delta;  // beyond 64 bits it begins anew, as a server's does
    else
        number = number < change.delta ? 0 : number - change.delta;
    document made = *at;
    made.value = std::to_string(number);
    made.json = true;
    return {stored_reply(in, in.store(key, std::move(made), now)), number};
}

metadata_reply get_metadata(vbucket& in, const doc_key& key, wall_time now)
{
    (void)find_live(in, key, now);
    metadata_reply reply;
    const document* const at = in.find(key);
    if (!at) {
        reply.code = kv_status::not_found;
        return reply;
    }
    reply.cas = at->locked(now) ? locked_cas : at->cas;
    reply.deleted = at->deleted;
    reply.json = at->json;
    reply.has_xattrs = !at->xattrs.empty();
    reply.flags = at->flags;
    reply.expiry = at->expiry;
    reply.revision = at->revision;
    return reply;
}

read_reply get_from_replica(const vbucket& in, const doc_key& key, wall_time now)
{
    const document* const at = in.find(key);
    if (!at || at->deleted || expired(*at, now))
        return failed_read(kv_status::not_found);
    return read(*at, now);
}

observation observe(vbucket& in, const doc_key& key, wall_time now)
{
    if (const document* const at = find_live(in, key, now))
        return {observed_state::persisted, at->cas};
    const document* const tombstone = in.find(key);
    return tombstone ? observation{observed_state::deleted, tombstone->cas} : observation{};
}

}  // namespace holdfast::lab::couchbase
