#include "core/couchbase/wire/leb128.hpp"
#include "lab/couchbase/kv/exchange.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace holdfast::lab::couchbase {

namespace {

constexpr std::uint8_t metadata_with_datatype = 2;

std::uint32_t number_of(std::span<const std::uint8_t> extras)
{
    return big_endian_reader{extras}.take<std::uint32_t>().value_or(0);
}

void answer_read(read_reply found, kv_reply& reply)
{
    reply.status = found.code;
    if (found.code != kv_status::success)
        return;
    reply.cas = found.cas;
    reply.extras.add(found.flags);
    reply.value = std::move(found.value);
    reply.json = found.json;
    reply.may_compress = found.compressed;
}

void answer_mutation(const kv_request& what, const mutation_reply& done, kv_reply& reply)
{
    reply.status = done.code;
    reply.cas = done.cas;
    add_token(what, done, reply);
}

}  // namespace

void add_token(const kv_request& what, const mutation_reply& done, kv_reply& reply)
{
    if (done.seqno != 0 && what.client.has(kv_feature::mutation_seqno))
        reply.extras.add(done.uuid).add(done.seqno);
}

void get_document(node&, kv_request& what, kv_reply& reply)
{
    if (check_readable(*what.partition, what.key, reply))
        answer_read(get(*what.partition, what.key, what.now), reply);
}

void get_replica(node& on, kv_request& what, kv_reply& reply)
{
    const vbucket* const copy = what.in->find_replica(what.frame.vbucket());
    if (!copy)
        refuse_vbucket(on, what, reply);
    else if (read_document_key(what, reply))
        answer_read(get_from_replica(*copy, what.key, what.now), reply);
}

void store_document(node&, kv_request& what, kv_reply& reply)
{
    if (!begin_write(what, reply))
        return;
    big_endian_reader extras{what.frame.extras()};
    new_content content;
    content.flags = extras.take<std::uint32_t>().value_or(0);
    content.expiry = extras.take<std::uint32_t>().value_or(0);
    if (content.expiry == 0)
        content.expiry = usual_expiry(*what.in, what.key.collection, what.now);
    content.value = what.value;
    content.cas = what.cas();
    content.compressed = what.compressed;
    content.preserve_expiry = what.infos.preserve_expiry;
    const store_mode mode = what.opcode() == kv_opcode::insert    ? store_mode::add
                            : what.opcode() == kv_opcode::replace ? store_mode::replace
                                                                  : store_mode::set;
    answer_mutation(what, store(*what.partition, mode, what.key, std::move(content), what.now),
                    reply);
}

void remove_document(node&, kv_request& what, kv_reply& reply)
{
    if (begin_write(what, reply))
        answer_mutation(what, remove(*what.partition, what.key, what.cas(), what.now), reply);
}

void extend_document(node&, kv_request& what, kv_reply& reply)
{
    if (!begin_write(what, reply))
        return;
    const extend_at where = what.opcode() == kv_opcode::prepend ? extend_at::front
                                                                : extend_at::back;
    answer_mutation(
        what, extend(*what.partition, where, what.key, what.value, what.cas(), what.now), reply);
}

void change_counter(node&, kv_request& what, kv_reply& reply)
{
    if (!begin_write(what, reply))
        return;
    big_endian_reader extras{what.frame.extras()};
    counter_change change;
    change.delta = extras.take<std::uint64_t>().value_or(0);
    change.initial = extras.take<std::uint64_t>().value_or(0);
    change.expiry = extras.take<std::uint32_t>().value_or(0);
    change.cas = what.cas();
    change.decrement = what.opcode() == kv_opcode::decrement;
    const counter_reply done = count(*what.partition, what.key, change, what.now);
    answer_mutation(what, done.base, reply);
    if (done.base.code != kv_status::success)
        return;
    kv_extras number;
    number.add(done.value);
    reply.value = core::couchbase::as_text(number.bytes());
}

void touch_document(node&, kv_request& what, kv_reply& reply)
{
    if (!check_no_sync_write(what, reply))
        return;
    const auto done = touch(*what.partition, what.key, number_of(what.frame.extras()), what.now);
    reply.status = done.code;
    reply.cas = done.cas;
}

void touch_and_get_document(node&, kv_request& what, kv_reply& reply)
{
    if (!check_no_sync_write(what, reply))
        return;
    const std::uint32_t expiry = number_of(what.frame.extras());
    answer_read(get_and_touch(*what.partition, what.key, expiry, what.now), reply);
}

void lock_document(node&, kv_request& what, kv_reply& reply)
{
    const std::size_t size = what.frame.extras().size();
    if (size != 0 && size != 4) {
        reply.fail(kv_status::invalid, "a lock time has 4 bytes");
        return;
    }
    if (!check_no_sync_write(what, reply))
        return;
    const std::uint32_t seconds = number_of(what.frame.extras());
    answer_read(get_and_lock(*what.partition, what.key, seconds, what.now), reply);
}

void unlock_document(node&, kv_request& what, kv_reply& reply)
{
    reply.status = unlock(*what.partition, what.key, what.cas(), what.now);
}

void document_metadata(node&, kv_request& what, kv_reply& reply)
{
    const auto extras = what.frame.extras();
    if (extras.size() > 1 || (extras.size() == 1 && extras[0] > metadata_with_datatype)) {
        reply.fail(kv_status::invalid, "this version of metadata is not known");
        return;
    }
    if (!check_readable(*what.partition, what.key, reply))
        return;
    const auto found = get_metadata(*what.partition, what.key, what.now);
    reply.status = found.code;
    if (found.code != kv_status::success)
        return;
    reply.cas = found.cas;
    reply.extras.add(std::uint32_t{found.deleted})
        .add(found.flags)
        .add(found.expiry)
        .add(found.revision);
    if (extras.size() == 1 && extras[0] == metadata_with_datatype)
        reply.extras.add(
            static_cast<std::uint8_t>((found.json ? 1 : 0) | (found.has_xattrs ? 4 : 0)));
}

void observe_documents(node& on, kv_request& what, kv_reply& reply)
{
    big_endian_reader asked{core::couchbase::as_octets(what.value)};
    while (!asked.empty()) {
        const auto id = asked.take<std::uint16_t>();
        const auto size = asked.take<std::uint16_t>();
        const auto key = size ? asked.take_bytes(*size) : std::nullopt;
        if (!id || !key || key->empty()) {
            reply.fail(kv_status::invalid, "a key to observe is a vbucket, a length and the key");
            return;
        }
        vbucket* const in = what.in->find_active(*id);
        if (!in) {
            refuse_vbucket(on, what, reply);
            return;
        }
        const bool prefixed = what.client.has(kv_feature::collections);
        const auto split = prefixed ? core::couchbase::split_collection_key(*key) : std::nullopt;
        if (prefixed && !split) {
            reply.fail(kv_status::invalid, "the key has no collection id");
            return;
        }
        doc_key name{0, std::string{core::couchbase::as_text(*key)}};
        if (split)
            name = {split->collection, std::string{core::couchbase::as_text(split->key)}};
        const observation seen = observe(*in, name, what.now);
        kv_extras numbers;
        numbers.add(*id).add(*size);
        reply.value += core::couchbase::as_text(numbers.bytes());
        reply.value += core::couchbase::as_text(*key);
        kv_extras state;
        state.add(static_cast<std::uint8_t>(seen.state)).add(seen.cas);
        reply.value += core::couchbase::as_text(state.bytes());
    }
}

void observe_seqno(node&, kv_request& what, kv_reply& reply)
{
    const auto uuid =
        big_endian_reader{core::couchbase::as_octets(what.value)}.take<std::uint64_t>();
    if (!uuid || what.value.size() != sizeof(*uuid)) {
        reply.fail(kv_status::invalid, "the value is a vbucket uuid");
        return;
    }
    const vbucket& in = *what.partition;
    const auto& log = in.failover_log();
    const auto known = std::find_if(log.begin(), log.end(),
                                    [&](const failover_entry& one) { return one.uuid == *uuid; });
    if (known == log.end()) {
        reply.fail(kv_status::not_found);
        return;
    }
    const bool failed_over = known != log.begin();
    kv_extras numbers;
    numbers.add(std::uint8_t{failed_over})
        .add(in.id())
        .add(in.uuid())
        .add(in.persisted_seqno())
        .add(in.high_seqno());
    reply.value = core::couchbase::as_text(numbers.bytes());
    if (failed_over) {  // up to where the history that the client knows is shared
        kv_extras old;
        old.add(*uuid).add((known - 1)->seqno);
        reply.value += core::couchbase::as_text(old.bytes());
    }
}

}  // namespace holdfast::lab::couchbase
