#include "core/mongo/retry/reply_failure.hpp"

#include "core/mongo/sdam/reply.hpp"

#include <chrono>

namespace holdfast::core::mongo {

namespace {

void read_labels(const bson::element& from, known_labels& into)
{
    if (from.type() != bson::type::array)
        return;
    for (const bson::element& e : from.as_array()) {
        if (e.type() != bson::type::string)
            continue;
        const std::string_view name = e.as_string();
        into.retryable_write |= name == label::retryable_write;
        into.no_writes_performed |= name == label::no_writes_performed;
        into.system_overloaded |= name == label::system_overloaded;
        into.retryable |= name == label::retryable;
    }
}

void read_error(bson::view from, failed_attempt& into)
{
    if (const bson::element code = from["code"])
        if (const auto number = code.get<std::int32_t>())
            into.code = *number;
    if (const bson::element message = from["errmsg"]; message.type() == bson::type::string)
        into.message = message.as_string();
    if (const bson::element base = from["baseBackoffMS"])
        if (const auto milliseconds = base.get<std::int64_t>())
            into.base_backoff = std::chrono::milliseconds{*milliseconds};
    read_labels(from["errorLabels"], into.labels);
}

}  // namespace

reply_glance glance_at(bson::view reply) noexcept
{
    reply_glance seen{.reply = reply};
    for (const bson::element& e : reply) {
        const std::string_view key = e.key();
        // By length first: nearly all fields of nearly all replies are none of these.
        if (key.size() == 2 && key == "ok")
            seen.ok = seen.ok ? seen.ok : e;
        else if (key.size() == 12 && key == "$clusterTime")
            seen.cluster_time = e;
        else if (key.size() == 13 && key == "operationTime")
            seen.operation_time = e;
        else if (key.size() == 17 && key == "writeConcernError")
            seen.concern_error = e;
    }
    return seen;
}

std::optional<failed_attempt> failure_in(const reply_glance& seen, std::int32_t max_wire_version,
                                         bool sharded)
{
    const bool fine = is_true(seen.ok);
    if (fine && seen.concern_error.type() != bson::type::document) [[likely]]
        return std::nullopt;
    failed_attempt found{
        .origin = failure_origin::server, .max_wire_version = max_wire_version, .sharded = sharded};
    if (!fine) {
        read_error(seen.reply, found);
        return found;
    }
    found.of_write_concern = true;
    // Servers put the labels beside the error, not into it.
    read_labels(seen.reply["errorLabels"], found.labels);
    read_error(seen.concern_error.as_document(), found);
    return found;
}

}  // namespace holdfast::core::mongo
