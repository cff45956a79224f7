#include "core/couchbase/handshake/bootstrap.hpp"

#include "core/couchbase/handshake/hello_key.hpp"
#include "core/couchbase/retry/classify_kv.hpp"
#include "core/couchbase/wire/big_endian.hpp"
#include "core/couchbase/wire/frame_writer.hpp"
#include "core/couchbase/wire/value.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace holdfast::core::couchbase {

namespace {

/// In the order in which servers' logs show them.
constexpr kv_feature asked_by_default[] = {
    kv_feature::tcp_nodelay,
    kv_feature::mutation_seqno,
    kv_feature::xattr,
    kv_feature::xerror,
    kv_feature::select_bucket,
    kv_feature::snappy,
    kv_feature::json,
    kv_feature::duplex,
    kv_feature::clustermap_change_notification,
    kv_feature::unordered_execution,
    kv_feature::tracing,
    kv_feature::alt_request,
    kv_feature::sync_replication,
    kv_feature::collections,
    kv_feature::preserve_ttl,
    kv_feature::vattr,
    kv_feature::create_as_deleted,
    kv_feature::subdoc_document_macro_support,
    kv_feature::subdoc_replace_body_with_xattr,
    kv_feature::subdoc_replica_read,
    kv_feature::config_with_known_version,
    kv_feature::dedupe_not_my_vbucket_clustermap,
    kv_feature::clustermap_change_notification_brief,
    kv_feature::multiple_xattr,
    kv_feature::binary_xattr,
};

struct named_step {
    kv_opcode step;
    std::string_view name;
};

constexpr named_step step_names[] = {
    {kv_opcode::hello, "HELLO"},
    {kv_opcode::get_error_map, "GET_ERROR_MAP"},
    {kv_opcode::sasl_list_mechanisms, "SASL_LIST_MECHS"},
    {kv_opcode::sasl_auth, "SASL_AUTH"},
    {kv_opcode::sasl_step, "SASL_STEP"},
    {kv_opcode::select_bucket, "SELECT_BUCKET"},
    {kv_opcode::get_cluster_config, "GET_CLUSTER_CONFIG"},
};

std::string_view step_name(kv_opcode step)
{
    const auto found = std::ranges::find(step_names, step, &named_step::step);
    return found == std::end(step_names) ? "bootstrap" : found->name;
}

/// How servers answer to a command that is newer than they are.
bool is_unknown_command(kv_status status)
{
    return status == kv_status::unknown_command || status == kv_status::not_supported;
}

}  // namespace

std::span<const kv_feature> default_features() noexcept
{
    return asked_by_default;
}

bootstrap::bootstrap(bootstrap_options options, std::string nonce)
    : options_{std::move(options)}, nonce_{std::move(nonce)}, untried_{allowed_mechanisms()}
{
    for (const kv_feature feature : options_.features)
        agreed_.add(feature);
    is_logged_in_ = std::holds_alternative<certificate_credential>(options_.credential);
}

bootstrap_action bootstrap::start(bson::byte_buffer& out)
{
    assert(next_opaque_ == 1);
    const std::size_t before = out.size();
    if (!is_logged_in_ && needs_tls(untried_.front()) && !options_.is_tls) {
        fail(bootstrap_problem::invalid_argument, kv_opcode::sasl_auth, {}, errc::invalid_argument,
             std::string{name_of(untried_.front())} + " shows its secret to all that can listen, " +
                 "and is used inside TLS only: connect with couchbases://");
        return next(out, before);
    }
    bson::byte_buffer features;
    write_features(features, options_.features);
    send(out, kv_opcode::hello, hello_key(options_.agent, options_.connection_name), {},
         features.bytes());
    kv_extras newest;  // as a value
    newest.add(static_cast<std::uint16_t>(kv_error_map::newest_version));
    send(out, kv_opcode::get_error_map, {}, {}, newest.bytes());
    if (!is_logged_in_) {
        send(out, kv_opcode::sasl_list_mechanisms);
        send_auth(out, untried_.front());
    }
    return next(out, before);
}

bootstrap_action bootstrap::resume(const frame& reply, bson::byte_buffer& out)
{
    const std::size_t before = out.size();
    if (reply.header.magic == kv_magic::server_request && !is_over_)
        return is_computing_ ? bootstrap_action{compute_keys{}} : read_next{};
    if (!is_over_ && takes(reply))
        take(reply.header.opcode, reply, out);
    return next(out, before);
}

bootstrap_action bootstrap::compute(bson::byte_buffer& out)
{
    const std::size_t before = out.size();
    if (!is_over_ && is_computing_) {
        is_computing_ = false;
        apply(login_->compute(), kv_opcode::sasl_auth, {}, out);
    }
    return next(out, before);
}

void bootstrap::send(bson::byte_buffer& out, kv_opcode opcode, std::string_view key,
                     std::span<const std::uint8_t> extras, std::span<const std::uint8_t> value)
{
    const auto sent = write_request(
        out,
        {.opcode = opcode, .opaque = next_opaque_, .extras = extras, .key = key, .value = value});
    if (!sent) {
        fail(bootstrap_problem::invalid_argument, opcode, {}, sent.error().code(),
             std::string{step_name(opcode)} + ": " + sent.error().message());
        return;
    }
    in_flight_.push_back({opcode, next_opaque_++});
}

/// With nothing else in flight: servers demand it of SELECT_BUCKET.
void bootstrap::send_last(bson::byte_buffer& out)
{
    sent_last_ = true;
    if (!options_.bucket.empty())
        send(out, kv_opcode::select_bucket, options_.bucket);
    if (!options_.fetch_config)
        return;
    kv_extras version;
    if (options_.known_config && agreed_.has(kv_feature::config_with_known_version))
        version.add(static_cast<std::uint64_t>(options_.known_config->epoch))
            .add(static_cast<std::uint64_t>(options_.known_config->revision));
    send(out, kv_opcode::get_cluster_config, {}, version.bytes());
}

/// True if the frame answers something that was asked, and is as it should be.
bool bootstrap::takes(const frame& reply)
{
    const auto asked = std::ranges::find(in_flight_, reply.header.opaque, &request::opaque);
    const bool answers = reply.header.magic == kv_magic::client_response ||
                         reply.header.magic == kv_magic::alt_client_response;
    if (!answers || asked == in_flight_.end()) {
        violate(reply.header.opcode, "the server sent a frame that answers nothing");
        return false;
    }
    const kv_opcode opcode = asked->opcode;
    if (opcode != reply.header.opcode) {
        violate(opcode, "the server answered with another command");
        return false;
    }
    if (!is_negotiated(reply.header.datatype, agreed_)) {
        violate(opcode, "the answer has a datatype that was not agreed on");
        return false;
    }
    in_flight_.erase(asked);
    return true;
}

void bootstrap::take(kv_opcode opcode, const frame& reply, bson::byte_buffer& out)
{
    std::span<const std::uint8_t> value = reply.value();
    if (has(reply.header.datatype, kv_datatype::snappy)) {
        inflated_.clear();
        const auto plain = decompress_value(value, inflated_);
        if (!plain) {
            violate(opcode, plain.error().message());
            return;
        }
        value = *plain;
    }
    const kv_status status = reply.status();
    if (opcode == kv_opcode::hello)
        take_hello(status, value);
    else if (opcode == kv_opcode::get_error_map)
        take_error_map(status, value);
    else if (opcode == kv_opcode::sasl_list_mechanisms)
        take_mechanisms(status, as_text(value), out);
    else if (opcode == kv_opcode::select_bucket)
        take_bucket(status);
    else if (opcode == kv_opcode::get_cluster_config)
        take_config(status, value);
    else
        take_sasl(opcode, status, as_text(value), out);
}

void bootstrap::take_hello(kv_status status, std::span<const std::uint8_t> value)
{
    if (is_unknown_command(status)) {
        agreed_ = {};
        return;
    }
    if (status != kv_status::success) {
        const classification meant = classify_kv(kv_opcode::hello, status);
        fail(bootstrap_problem::refused, kv_opcode::hello, status, meant.code,
             "the server refused HELLO: " + meant.message);
        return;
    }
    const auto features = parse_features(value);
    if (!features)
        violate(kv_opcode::hello, features.error().message());
    else
        agreed_ = agreed_.in_common_with(*features);
}

/// A server without a map, or with one that cannot be read, is as usable as any: the map is for
/// statuses that are newer than this library.
void bootstrap::take_error_map(kv_status status, std::span<const std::uint8_t> value)
{
    if (status != kv_status::success)
        return;
    auto map = kv_error_map::parse(as_text(value));
    if (map)
        done_.error_map = *std::move(map);
    else
        done_.error_map_defect = std::move(map).error();
}

void bootstrap::take_bucket(kv_status status)
{
    if (status == kv_status::success)
        return;
    const std::string bucket = "the bucket \"" + options_.bucket + "\"";
    if (status == kv_status::no_access) {
        fail(bootstrap_problem::bucket_no_access, kv_opcode::select_bucket, status,
             errc::authentication_failure, bucket + " does not exist, or the user may not use it");
    } else if (status == kv_status::not_found) {
        fail(bootstrap_problem::bucket_not_found, kv_opcode::select_bucket, status,
             errc::bucket_not_found, bucket + " is not on this node");
    } else {
        const classification meant = classify_kv(kv_opcode::select_bucket, status);
        fail(bootstrap_problem::refused, kv_opcode::select_bucket, status, meant.code,
             bucket + " could not be selected: " + meant.message);
    }
}

void bootstrap::take_config(kv_status status, std::span<const std::uint8_t> value)
{
    done_.config_status = status;
    if (status == kv_status::success)
        done_.config = as_text(value);
}

void bootstrap::fail(bootstrap_problem problem, kv_opcode step, std::optional<kv_status> status,
                     error_code code, std::string message)
{
    if (failure_)
        return;
    failure_ = bootstrap_failure{problem, step, status, error{code, std::move(message)}};
}

void bootstrap::violate(kv_opcode step, std::string_view what)
{
    fail(bootstrap_problem::protocol_violation, step, {}, errc::decoding_failure,
         std::string{step_name(step)} + ": " + std::string{what});
}

bootstrap_action bootstrap::next(bson::byte_buffer& out, std::size_t written_before)
{
    if (is_over_)
        return bootstrap_failure{
            .why = error{errc::request_canceled, "the bootstrap of this connection is over"}};
    const bool ready = !failure_ && is_logged_in_ && in_flight_.empty();
    if (ready && !sent_last_)
        send_last(out);
    if (failure_) {
        is_over_ = true;
        out.truncate(written_before);
        options_.credential = {};
        return *std::exchange(failure_, std::nullopt);
    }
    if (is_computing_)
        return compute_keys{};
    if (out.size() > written_before)
        return send_and_read{};
    if (!ready)
        return read_next{};
    is_over_ = true;
    done_.features = agreed_;
    return std::move(done_);
}

}  // namespace holdfast::core::couchbase
