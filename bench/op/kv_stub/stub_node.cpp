#include "stub_node.hpp"

#include "core/couchbase/wire/big_endian.hpp"

#include <array>
#include <cstring>
#include <utility>
#include <vector>

namespace holdfast::bench {

using core::couchbase::frame;
using core::couchbase::frame_header_size;
using core::couchbase::kv_datatype;
using core::couchbase::kv_feature;
using core::couchbase::kv_magic;
using core::couchbase::kv_opcode;
using core::couchbase::kv_status;
using core::couchbase::load_big;
using core::couchbase::store_big;

namespace {

constexpr std::string_view document =
    R"({"name":"Koninklijke Luchtvaart Maatschappij","country":"NL","fleet":110,)"
    R"("hub":"AMS","callsign":"KLM","alliance":"SkyTeam.aero"})";
static_assert(document.size() == 128);

constexpr std::string_view error_map =
    R"({"version":2,"revision":1,"errors":{"0":{"name":"SUCCESS","desc":"Success",)"
    R"("attrs":["success"]}}})";

constexpr std::uint32_t json_flags = 0x02000006;
constexpr std::uint64_t manifest_uid = 7;
constexpr std::size_t opaque_offset = 12;
constexpr std::size_t cas_offset = 16;

constexpr kv_feature offered[] = {kv_feature::tcp_nodelay,
                                  kv_feature::mutation_seqno,
                                  kv_feature::xattr,
                                  kv_feature::xerror,
                                  kv_feature::select_bucket,
                                  kv_feature::json,
                                  kv_feature::duplex,
                                  kv_feature::unordered_execution,
                                  kv_feature::tracing,
                                  kv_feature::alt_request,
                                  kv_feature::sync_replication,
                                  kv_feature::collections,
                                  kv_feature::clustermap_change_notification};

std::optional<core::sasl::scram_hash> hash_named(std::string_view mechanism)
{
    using core::sasl::scram_hash;
    if (mechanism == "SCRAM-SHA512")
        return scram_hash::sha_512;
    if (mechanism == "SCRAM-SHA256")
        return scram_hash::sha_256;
    if (mechanism == "SCRAM-SHA1")
        return scram_hash::sha_1;
    return std::nullopt;
}

/// A reply that was made before, for this request.
void answer_again(const std::uint8_t* request, const bson::byte_buffer& reply, std::uint64_t cas,
                  bson::byte_buffer& out)
{
    std::uint8_t* const to = out.grow(reply.size());
    std::memcpy(to, reply.data(), reply.size());
    std::memcpy(to + opaque_offset, request + opaque_offset, sizeof(std::uint32_t));
    store_big(to + cas_offset, cas);
}

}  // namespace

std::optional<std::size_t> stub_node::answer(std::span<const std::uint8_t> received,
                                             bson::byte_buffer& out)
{
    constexpr std::size_t body_offset = 8;
    std::size_t at = 0;
    while (received.size() - at >= frame_header_size) {
        const std::uint8_t* const request = received.data() + at;
        const std::size_t size = frame_header_size + load_big<std::uint32_t>(request + body_offset);
        if (size > core::couchbase::max_body_size)
            return std::nullopt;
        if (received.size() - at < size)
            break;
        const bool is_request = request[0] == static_cast<std::uint8_t>(kv_magic::client_request);
        if (selected_ && is_request && request[1] == static_cast<std::uint8_t>(kv_opcode::get)) {
            answer_again(request, get_reply_, ++cas_, out);
        } else if (selected_ && is_request &&
                   request[1] == static_cast<std::uint8_t>(kv_opcode::upsert)) {
            answer_again(request, upsert_reply_, ++cas_, out);
        } else {
            const auto header = core::couchbase::parse_frame_header(received.subspan(at));
            if (!header || is_response(header->magic))
                return std::nullopt;
            answer_one({*header, received.subspan(at, size)}, out);
        }
        at += size;
    }
    return at;
}

void stub_node::answer_one(const frame& request, bson::byte_buffer& out)
{
    const kv_opcode opcode = request.header.opcode;
    if (opcode == kv_opcode::hello)
        return hello(request, out);
    if (opcode == kv_opcode::get_error_map)
        return reply(request, out, kv_status::success, error_map);
    if (opcode == kv_opcode::sasl_list_mechanisms)
        return reply(request, out, kv_status::success, "SCRAM-SHA512 SCRAM-SHA256 SCRAM-SHA1");
    if (opcode == kv_opcode::sasl_auth)
        return begin_login(request, out);
    if (opcode == kv_opcode::sasl_step)
        return end_login(request, out);
    if (opcode == kv_opcode::noop)
        return reply(request, out, kv_status::success);
    if (!logged_in_)
        return reply(request, out, kv_status::no_access);
    if (opcode == kv_opcode::get_cluster_config)
        return send_config(request, out);
    if (opcode == kv_opcode::select_bucket) {
        selected_ = core::couchbase::as_text(request.key()) == "default";
        return reply(request, out, selected_ ? kv_status::success : kv_status::no_access);
    }
    if (opcode == kv_opcode::get_collection_id && selected_)
        return find_collection(request, out);
    reply(request, out, selected_ ? kv_status::unknown_command : kv_status::no_bucket);
}

void stub_node::reply(const frame& to, bson::byte_buffer& out, kv_status status,
                      std::string_view value, std::span<const std::uint8_t> extras) const
{
    core::couchbase::reply_frame made;
    made.opcode = to.header.opcode;
    made.opaque = to.header.opaque;
    made.status = status;
    made.extras = extras;
    made.value = core::couchbase::as_octets(value);
    (void)core::couchbase::write_reply(out, made).value();
}

void stub_node::hello(const frame& request, bson::byte_buffer& out)
{
    const auto wanted = core::couchbase::parse_features(request.value());
    std::vector<kv_feature> agreed;
    for (const kv_feature one : offered) {
        if (wanted && wanted->has(one)) {
            features_.add(one);
            agreed.push_back(one);
        }
    }
    bson::byte_buffer value;
    core::couchbase::write_features(value, agreed);
    reply(request, out, kv_status::success, core::couchbase::as_text(value.bytes()));
    prepare_replies();
}

void stub_node::begin_login(const frame& request, bson::byte_buffer& out)
{
    const auto hash = hash_named(core::couchbase::as_text(request.key()));
    auto first = lab::read_client_first(core::couchbase::as_text(request.value()));
    if (!hash || !first || first->user != cluster_.settings().user)
        return reply(request, out, kv_status::auth_error);
    login_.hash = *hash;
    const std::string text = lab::begin_scram(login_, *std::move(first), cluster_.keys(*hash),
                                              "OfTheStubAlwaysTheSame");
    reply(request, out, kv_status::auth_continue, text);
}

void stub_node::end_login(const frame& request, bson::byte_buffer& out)
{
    const auto proof = lab::end_scram(login_, core::couchbase::as_text(request.value()));
    logged_in_ = proof.has_value();
    if (!logged_in_)
        return reply(request, out, kv_status::auth_error);
    reply(request, out, kv_status::success, cluster_.settings().proves ? *proof : "Authenticated");
}

void stub_node::send_config(const frame& request, bson::byte_buffer& out) const
{
    reply(request, out, kv_status::success,
          selected_ ? cluster_.bucket_config() : cluster_.global_config());
}

void stub_node::find_collection(const frame& request, bson::byte_buffer& out) const
{
    const auto id = cluster_.collection_id(core::couchbase::as_text(request.value()));
    if (!id)
        return reply(request, out, kv_status::unknown_collection);
    std::array<std::uint8_t, sizeof(std::uint64_t) + sizeof(std::uint32_t)> extras{};
    store_big(store_big(extras.data(), manifest_uid), *id);
    reply(request, out, kv_status::success, {}, extras);
}

void stub_node::prepare_replies()
{
    core::couchbase::reply_frame made;
    if (features_.has(kv_feature::tracing))
        made.infos.server_duration = std::chrono::microseconds{9};
    made.opcode = kv_opcode::get;
    std::array<std::uint8_t, sizeof(std::uint32_t)> flags{};
    store_big(flags.data(), json_flags);
    made.extras = flags;
    made.value = core::couchbase::as_octets(document);
    made.datatype = features_.has(kv_feature::json) ? kv_datatype::json : kv_datatype::raw;
    get_reply_.clear();
    (void)core::couchbase::write_reply(get_reply_, made).value();

    std::array<std::uint8_t, 2 * sizeof(std::uint64_t)> token{};
    store_big(store_big(token.data(), std::uint64_t{7}), std::uint64_t{9});
    made.opcode = kv_opcode::upsert;
    made.datatype = kv_datatype::raw;
    made.value = {};
    made.extras = {};
    if (features_.has(kv_feature::mutation_seqno))
        made.extras = token;
    upsert_reply_.clear();
    (void)core::couchbase::write_reply(upsert_reply_, made).value();
}

}  // namespace holdfast::bench
