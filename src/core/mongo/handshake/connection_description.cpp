#include "core/mongo/handshake/connection_description.hpp"

#include "core/mongo/error/errc.hpp"
#include "core/mongo/handshake/server_refusal.hpp"
#include "holdfast/bson/validate.hpp"

#include <string_view>
#include <utility>

namespace holdfast::core::mongo {

namespace {

/// Reads fields that may be absent, or null, which means the same. Remembers the first that has a
/// wrong type.
class optional_fields {
public:
    explicit optional_fields(bson::view reply) noexcept : reply_{reply} {}

    template <class T>
    std::optional<T> get(std::string_view key)
    {
        const bson::element found = reply_.find(key);
        if (!found || found.is_null())
            return std::nullopt;
        auto value = found.get<T>();
        if (value)
            return *std::move(value);
        if (!fault_)
            fault_ = std::move(value).error();
        return std::nullopt;
    }

    /// A limit that is nonsense is not taken: with it, no message could be sent at all.
    void limit(std::string_view key, std::int32_t& value)
    {
        const auto found = get<std::int32_t>(key);
        if (found && *found > 0)
            value = *found;
    }

    const std::optional<error>& fault() const noexcept { return fault_; }

private:
    bson::view reply_;
    std::optional<error> fault_;
};

std::vector<wire_compressor> known_compressors(bson::array_view names)
{
    std::vector<wire_compressor> known;
    for (const bson::element& name : names) {
        if (name.type() != bson::type::string)
            continue;
        if (const auto which = compressor_named(name.as_string()))
            known.push_back(*which);
    }
    return known;
}

std::vector<std::string> texts(bson::array_view names)
{
    std::vector<std::string> all;
    for (const bson::element& name : names) {
        if (name.type() == bson::type::string)
            all.emplace_back(name.as_string());
    }
    return all;
}

error not_balanced()
{
    return error{errc::hello_failed,
                 "Driver attempted to initialize in load balancing mode, but the server does not "
                 "support this mode."};
}

}  // namespace

result<connection_description> parse_hello_reply(bson::view reply, bool load_balanced)
{
    if (const auto valid = bson::validate(reply.bytes()); !valid)
        return valid.error();
    constexpr std::int32_t load_balancer_mismatch = 354;
    if (load_balanced && !says_ok(reply) &&
        reply.find("code").get<std::int32_t>().value_or(0) == load_balancer_mismatch)
        return not_balanced();
    if (!says_ok(reply))
        return server_refusal(errc::hello_failed, "the server refused the handshake", reply);

    connection_description server;
    optional_fields fields{reply};
    server.min_wire_version = fields.get<std::int32_t>("minWireVersion").value_or(0);
    server.max_wire_version = fields.get<std::int32_t>("maxWireVersion").value_or(0);
    fields.limit("maxBsonObjectSize", server.max_bson_object_size);
    fields.limit("maxMessageSizeBytes", server.max_message_size);
    fields.limit("maxWriteBatchSize", server.max_write_batch_size);
    server.hello_ok = fields.get<bool>("helloOk").value_or(false);
    server.is_arbiter = fields.get<bool>("arbiterOnly").value_or(false);
    if (const auto minutes = fields.get<std::int32_t>("logicalSessionTimeoutMinutes"))
        server.logical_session_timeout = std::chrono::minutes{*minutes};
    server.server_connection_id = fields.get<std::int64_t>("connectionId");
    server.service_id = fields.get<bson::object_id>("serviceId");
    if (const auto names = fields.get<bson::array_view>("compression"))
        server.compressors = known_compressors(*names);
    if (const auto names = fields.get<bson::array_view>("saslSupportedMechs"))
        server.supported_mechanisms = texts(*names);
    server.speculative_reply = fields.get<bson::document>("speculativeAuthenticate");
    if (fields.fault())
        return *fields.fault();
    if (load_balanced && !server.service_id)
        return not_balanced();
    return server;
}

}  // namespace holdfast::core::mongo
