#include "core/couchbase/wire/leb128.hpp"
#include "lab/couchbase/data/json_check.hpp"
#include "lab/couchbase/kv/exchange.hpp"

#include <algorithm>
#include <limits>

namespace holdfast::lab::couchbase {

namespace {

/// What must be there before the handler is called.
enum class scope : std::uint8_t { connection, login, bucket, vbucket, document };

constexpr std::size_t any_extras = std::numeric_limits<std::size_t>::max();

struct kv_command {
    kv_opcode opcode;
    kv_handler run;
    scope needs;
    std::size_t extras = 0;  // exactly so many bytes
    bool takes_value = false;
};

constexpr kv_command all_commands[] = {
    {kv_opcode::hello, hello, scope::connection, 0, true},
    {kv_opcode::get_error_map, error_map, scope::connection, 0, true},
    {kv_opcode::sasl_list_mechanisms, list_mechanisms, scope::connection},
    {kv_opcode::sasl_auth, start_login, scope::connection, 0, true},
    {kv_opcode::sasl_step, continue_login, scope::connection, 0, true},
    {kv_opcode::noop, noop, scope::connection},
    {kv_opcode::version, version, scope::connection},
    {kv_opcode::select_bucket, select_bucket, scope::login},
    {kv_opcode::get_cluster_config, cluster_config, scope::login, any_extras},
    {kv_opcode::stat, statistics, scope::login, 0, true},
    {kv_opcode::get_collections_manifest, collections_manifest, scope::bucket},
    {kv_opcode::get_collection_id, collection_id_of, scope::bucket, 0, true},
    {kv_opcode::get_scope_id, scope_id_of, scope::bucket, 0, true},
    {kv_opcode::get, get_document, scope::document},
    {kv_opcode::upsert, store_document, scope::document, 8, true},
    {kv_opcode::insert, store_document, scope::document, 8, true},
    {kv_opcode::replace, store_document, scope::document, 8, true},
    {kv_opcode::remove, remove_document, scope::document},
    {kv_opcode::increment, change_counter, scope::document, 20},
    {kv_opcode::decrement, change_counter, scope::document, 20},
    {kv_opcode::append, extend_document, scope::document, 0, true},
    {kv_opcode::prepend, extend_document, scope::document, 0, true},
    {kv_opcode::touch, touch_document, scope::document, 4},
    {kv_opcode::get_and_touch, touch_and_get_document, scope::document, 4},
    {kv_opcode::get_and_lock, lock_document, scope::document, any_extras},
    {kv_opcode::unlock, unlock_document, scope::document},
    {kv_opcode::get_meta, document_metadata, scope::document, any_extras},
    {kv_opcode::get_replica, get_replica, scope::bucket},
    {kv_opcode::observe_cas, observe_documents, scope::bucket, 0, true},
    {kv_opcode::observe_seqno, observe_seqno, scope::vbucket, 0, true},
    {kv_opcode::subdoc_multi_lookup, look_up_paths, scope::bucket, any_extras, true},
    {kv_opcode::subdoc_multi_mutation, mutate_paths, scope::document, any_extras, true},
};

/// Commands of servers that the lab knows of and does not have.
bool is_unsupported(kv_opcode one)
{
    return one == kv_opcode::get_random_key || one == kv_opcode::range_scan_create ||
           one == kv_opcode::range_scan_continue || one == kv_opcode::range_scan_cancel;
}

/// Whether the frame has what the command takes, and no more.
bool has_right_shape(const kv_command& command, const kv_request& what)
{
    const auto& header = what.frame.header;
    return (command.extras == any_extras || header.extras_size == command.extras) &&
           (command.takes_value || what.frame.value().empty()) &&
           core::couchbase::is_negotiated(header.datatype, what.client.features);
}

}  // namespace

void kv_reply::fail(kv_status why, std::string_view context)
{
    status = why;
    json = true;
    value = R"({"error":{"context":)" + quoted(context) + "}}";
}

namespace {

/// A configuration of which the node knows better, or one that is about something else.
std::string wrong_configuration(const node& on, const bucket& in)
{
    const asker by{on.id, on.options.hosts};
    switch (on.refusals) {
    case refusal_body::stale:
        return configuration_text(on.previous_members, in.previous_layout, by);
    case refusal_body::garbage:
        return R"({"rev":)";
    case refusal_body::other_bucket:
        for (const auto& [name, other] : on.buckets) {
            if (name != in.layout.name)
                return on.configuration(other);
        }
        break;
    case refusal_body::full:
    case refusal_body::empty:
        break;
    }
    return {};
}

}  // namespace

void refuse_vbucket(const node& on, kv_request& what, kv_reply& reply)
{
    reply.fail(kv_status::not_my_vbucket);
    if (on.refusals != refusal_body::full) {
        reply.value = wrong_configuration(on, *what.in);
        reply.json = !reply.value.empty();
        return;
    }
    const bool dedupe = what.client.has(kv_feature::dedupe_not_my_vbucket_clustermap);
    if (dedupe && what.client.sent_revision >= on.members.revision)
        return;
    what.client.sent_revision = on.members.revision;
    reply.value = on.configuration(*what.in);
    reply.json = true;
}

void refuse_collection(const kv_request& what, kv_status why, kv_reply& reply)
{
    reply.fail(why);
    reply.value = R"({"manifest_uid":")" + what.in->collections.uid_text() + "\"}";
    reply.json = true;
}

bool read_document_key(kv_request& what, kv_reply& reply)
{
    using core::couchbase::as_text;
    std::span<const std::uint8_t> key = what.frame.key();
    if (what.client.has(kv_feature::collections)) {
        const auto split = core::couchbase::split_collection_key(key);
        if (!split) {
            reply.fail(kv_status::invalid, "the key has no collection id");
            return false;
        }
        what.key.collection = split->collection;
        key = split->key;
    }
    what.key.name = as_text(key);
    if (what.key.name.empty() || what.key.name.size() > max_key_bytes) {
        reply.fail(kv_status::invalid, "a key has 1 to 250 bytes");
        return false;
    }
    if (!what.in->collections.has_collection(what.key.collection)) {
        refuse_collection(what, kv_status::unknown_collection, reply);
        return false;
    }
    return true;
}

namespace {

/// Rights are looked at when the bucket is selected, and again when users have changed.
bool may_use_bucket(const node& on, kv_client& client)
{
    if (client.rights_version == on.rights_version)
        return true;
    const auto account = on.users.find(client.user);
    if (account != on.users.end() && !account->second.may_open(client.bucket))
        return false;
    client.rights_version = on.rights_version;
    return true;
}

/// Fills in what the handler is promised; false if the reply says what is missing.
bool prepare(node& on, const kv_command& command, kv_request& what, kv_reply& reply)
{
    if (!has_right_shape(command, what)) {
        reply.fail(kv_status::invalid, "the request does not have the shape of its command");
        return false;
    }
    if (command.needs == scope::connection)
        return true;
    if (what.client.user.empty()) {
        reply.fail(kv_status::no_access, "a login is needed");
        return false;
    }
    if (what.client.stale_login) {
        reply.fail(kv_status::auth_stale);
        return false;
    }
    if (command.needs == scope::login)
        return true;
    what.in = on.find_bucket(what.client.bucket);
    if (!what.in) {
        reply.fail(kv_status::no_bucket, "no bucket is selected");
        return false;
    }
    if (!may_use_bucket(on, what.client)) {
        reply.fail(kv_status::no_access, "no right to use this bucket");
        return false;
    }
    if (on.world.steady_now() < on.warm_at) {
        reply.fail(kv_status::temporary_failure);
        return false;
    }
    if (command.needs == scope::bucket)
        return true;
    what.partition = what.in->find_active(what.frame.vbucket());
    if (!what.partition) {
        refuse_vbucket(on, what, reply);
        return false;
    }
    return command.needs == scope::vbucket || read_document_key(what, reply);
}

/// What a client gets that has not asked for the newer statuses.
kv_status classic(kv_status status, kv_opcode of)
{
    if (status == kv_status::not_locked)
        return kv_status::temporary_failure;
    if (status != kv_status::locked)
        return status;
    const bool about_locks = of == kv_opcode::get_and_lock || of == kv_opcode::unlock;
    return about_locks ? kv_status::temporary_failure : kv_status::exists;
}

}  // namespace

kv_reply answer(node& on, kv_request& what)
{
    kv_reply reply;
    const auto found = std::ranges::find(all_commands, what.opcode(), &kv_command::opcode);
    if (found == std::ranges::end(all_commands)) {
        reply.fail(is_unsupported(what.opcode()) ? kv_status::not_supported
                                                 : kv_status::unknown_command);
        return reply;
    }
    what.now = on.world.wall_now();
    if (prepare(on, *found, what, reply)) {
        vbucket* const copy = what.in ? what.in->find(what.frame.vbucket()) : nullptr;
        const std::uint64_t before = copy ? copy->high_seqno() : 0;
        found->run(on, what, reply);
        if (copy && copy->high_seqno() != before) {
            await_copies(on, what, reply);
            on.changed(what.in->layout.name, copy->id());
        }
        if (copy)
            copy->prepare_next(kv_durability::none);
    }
    if (!what.client.has(kv_feature::xerror))
        reply.status = classic(reply.status, what.opcode());
    return reply;
}

}  // namespace holdfast::lab::couchbase
