#include "lab/couchbase/kv/exchange.hpp"

#include <algorithm>
#include <array>

namespace holdfast::lab::couchbase {

using core::couchbase::as_text;

namespace {

constexpr std::string_view no_bucket_name = "@no bucket@";
constexpr std::string_view plain_name = "PLAIN";
constexpr std::string_view token_name = "OAUTHBEARER";
constexpr std::size_t longest_agent = 250;

constexpr kv_feature granted_features[] = {
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
};

bool offers_plain(const node& on, const kv_client& client)
{
    return client.secure || on.options.plain_without_tls;
}

/// "authorisation NUL user NUL password", the first of which is empty.
struct plain_login {
    std::string_view user;
    std::string_view password;
};

std::optional<plain_login> read_plain(std::string_view payload)
{
    const std::size_t first = payload.find('\0');
    const std::size_t second = first == payload.npos ? first : payload.find('\0', first + 1);
    if (second == payload.npos)
        return std::nullopt;
    return plain_login{payload.substr(first + 1, second - first - 1), payload.substr(second + 1)};
}

std::string fresh_nonce(node& on)
{
    std::array<std::uint8_t, 24> bytes{};
    on.world.random(bytes);
    return base64_text(bytes);
}

void log_in_plainly(node& on, kv_request& what, kv_reply& reply)
{
    const auto login = read_plain(what.value);
    const auto account = login ? on.users.find(login->user) : on.users.end();
    if (!offers_plain(on, what.client) || account == on.users.end() ||
        !is_password(account->second, login->password)) {
        reply.fail(kv_status::auth_error);
        return;
    }
    what.client.user = login->user;
    reply.value = "Authenticated";
}

/// "n,a=user,\1auth=Bearer TOKEN\1\1", of which the token alone counts.
void log_in_by_token(node& on, kv_request& what, kv_reply& reply)
{
    constexpr std::string_view before = "\1auth=Bearer ";
    const std::size_t at = what.value.find(before);
    std::string_view token = at == what.value.npos ? "" : what.value.substr(at + before.size());
    token = token.substr(0, token.find('\1'));
    const auto found = on.tokens.find(token);
    if (!offers_plain(on, what.client) || found == on.tokens.end() ||
        !on.users.contains(found->second)) {
        reply.fail(kv_status::auth_error);
        return;
    }
    what.client.user = found->second;
}

}  // namespace

void hello(node&, kv_request& what, kv_reply& reply)
{
    const auto text = what.frame.value();
    if (text.size() % 2 != 0) {
        reply.fail(kv_status::invalid, "features are numbers of two bytes");
        return;
    }
    what.client.features = {};
    what.client.agent = as_text(what.frame.key()).substr(0, longest_agent);
    big_endian_reader asked{text};
    while (const auto number = asked.take<std::uint16_t>()) {
        const kv_feature one{*number};
        if (std::ranges::find(granted_features, one) == std::ranges::end(granted_features) ||
            what.client.features.has(one))
            continue;
        what.client.features.add(one);
        reply.value += static_cast<char>(*number >> 8U);
        reply.value += static_cast<char>(*number & 0xffU);
    }
}

void error_map(node& on, kv_request& what, kv_reply& reply)
{
    big_endian_reader asked{what.frame.value()};
    const auto newest = asked.take<std::uint16_t>();
    if (!newest || *newest == 0 || !asked.empty()) {
        reply.fail(kv_status::invalid, "the value is the newest version that the client knows");
        return;
    }
    reply.value = on.error_map ? *on.error_map : error_map_text(std::min<int>(*newest, 2));
    reply.json = true;
}

void list_mechanisms(node& on, kv_request& what, kv_reply& reply)
{
    for (const scram_mechanism& one : scram_mechanisms)
        reply.value.append(reply.value.empty() ? "" : " ").append(one.name);
    if (offers_plain(on, what.client))
        reply.value.append(" ").append(plain_name);
    if (offers_plain(on, what.client) && !on.tokens.empty())
        reply.value.append(" ").append(token_name);
}

void start_login(node& on, kv_request& what, kv_reply& reply)
{
    what.client.login.reset();
    what.client.stale_login = false;
    what.client.user.clear();
    what.client.bucket.clear();
    const std::string_view name = as_text(what.frame.key());
    if (name == plain_name) {
        log_in_plainly(on, what, reply);
        return;
    }
    if (name == token_name) {
        log_in_by_token(on, what, reply);
        return;
    }
    const auto mechanism = std::ranges::find(scram_mechanisms, name, &scram_mechanism::name);
    auto first = read_client_first(what.value);
    const auto account = first ? on.users.find(first->user) : on.users.end();
    if (mechanism == std::ranges::end(scram_mechanisms) || account == on.users.end()) {
        reply.fail(kv_status::auth_error);
        return;
    }
    scram_conversation begun;
    begun.hash = mechanism->hash;
    reply.value = begin_scram(begun, *std::move(first), account->second.keys.at(mechanism->hash),
                              fresh_nonce(on));
    reply.fail(kv_status::auth_continue);
    what.client.login = std::move(begun);
}

void continue_login(node&, kv_request& what, kv_reply& reply)
{
    const auto going_on = std::exchange(what.client.login, std::nullopt);
    const auto last = going_on ? end_scram(*going_on, what.value) : std::nullopt;
    if (!last) {
        reply.fail(kv_status::auth_error);
        return;
    }
    what.client.user = going_on->user;
    reply.value = *last;
}

void select_bucket(node& on, kv_request& what, kv_reply& reply)
{
    const std::string_view name = as_text(what.frame.key());
    if (name == no_bucket_name) {
        what.client.bucket.clear();
        return;
    }
    const auto account = on.users.find(what.client.user);
    const bool known = std::ranges::find(on.known_buckets, name) != on.known_buckets.end();
    if (!known || account == on.users.end() || !account->second.may_open(name)) {
        reply.fail(kv_status::no_access, "no such bucket, or no right to open it");
    } else if (!on.find_bucket(name)) {
        reply.fail(kv_status::not_found, "the bucket is not on this node");
    } else {
        what.client.bucket = name;
        what.client.rights_version = on.rights_version;
    }
}

void cluster_config(node& on, kv_request& what, kv_reply& reply)
{
    big_endian_reader extras{what.frame.extras()};
    if (!extras.empty()) {
        const auto epoch = extras.take<std::uint64_t>();
        const auto rev = extras.take<std::uint64_t>();
        if (!epoch || !rev || !extras.empty()) {
            reply.fail(kv_status::invalid, "a known version has 16 bytes");
            return;
        }
        const config_revision known{static_cast<std::int64_t>(*epoch),
                                    static_cast<std::int64_t>(*rev)};
        if (known >= on.members.revision)
            return;
    }
    const bucket* const of = on.find_bucket(what.client.bucket);
    reply.value = of ? on.configuration(*of) : on.configuration();
    reply.json = true;
    what.client.sent_revision = on.members.revision;
}

void noop(node&, kv_request&, kv_reply&) {}

void version(node& on, kv_request&, kv_reply& reply)
{
    reply.value = on.options.version;
}

void statistics(node& on, kv_request& what, kv_reply& reply)
{
    if (!what.frame.key().empty()) {
        reply.fail(kv_status::not_found);
        return;
    }
    reply.statistics.emplace_back("version", on.options.version);
    if (const bucket* const of = on.find_bucket(what.client.bucket)) {
        std::size_t items = 0;
        for (const auto& [id, one] : of->vbuckets)
            items += one.current_state() == vbucket::state::active ? one.documents() : 0;
        reply.statistics.emplace_back("curr_items", std::to_string(items));
    }
}

}  // namespace holdfast::lab::couchbase
