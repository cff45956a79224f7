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

std::optional<failed_attempt> failure_in(bson::view reply, std::int32_t max_wire_version,
                                         bool sharded)
{
    failed_attempt found{
        .origin = failure_origin::server, .max_wire_version = max_wire_version, .sharded = sharded};
    if (!is_ok(reply)) {
        read_error(reply, found);
        return found;
    }
    const bson::element concern = reply["writeConcernError"];
    if (concern.type() != bson::type::document)
        return std::nullopt;
    // Servers put the labels beside the error, not into it.
    read_labels(reply["errorLabels"], found.labels);
    read_error(concern.as_document(), found);
    return found;
}

}  // namespace holdfast::core::mongo
