// Random configurations: what a server writes is what is parsed, a look at its revision agrees with
// it, no defect in it gets past the checks, and routes stay inside of it.
#include "check.hpp"
#include "choices.hpp"
#include "core/couchbase/config/offer.hpp"
#include "core/couchbase/route/route.hpp"
#include "core/couchbase/route/vbucket.hpp"
#include "support/config_text.hpp"

namespace holdfast::property::couchbase_config_test {
namespace {

using namespace core::couchbase;
using proof::config_layout;
using proof::config_text;

/// A configuration costs as much as some small documents.
int config_count()
{
    return property_count() / 4;
}

service_ports any_ports(choices& c, std::uint16_t kv)
{
    service_ports ports;
    for (std::size_t i = 0; i < service_count; ++i) {
        ports.plain[i] = static_cast<std::uint16_t>(c.one_in(2) ? 0 : 1 + c.below(65'535));
        ports.tls[i] = static_cast<std::uint16_t>(c.one_in(2) ? 0 : 1 + c.below(65'535));
    }
    ports.plain[0] = kv;
    return ports;
}

cluster_node any_node(choices& c, std::size_t number)
{
    constexpr std::string_view groups[] = {"", "east", "west", "Group 1"};
    const auto kv = static_cast<std::uint16_t>(11'210 + number);
    cluster_node node{.ports = any_ports(c, kv), .server_group = std::string{c.pick(groups)}};
    const std::string hosts[] = {"node-" + std::to_string(number), "localhost",
                                 "fd00::" + std::to_string(number)};
    node.host = c.pick(hosts);
    node.uuid = c.one_in(2) ? "" : "uuid-" + std::to_string(number);
    if (c.one_in(3))
        node.alternates.push_back({"external", "198.51.100.1", std::nullopt});
    if (c.one_in(3))
        node.alternates.push_back({"office", "fd01::1", any_ports(c, 7)});
    return node;
}

std::vector<std::int16_t> any_rows(choices& c, const vbucket_map& map, std::size_t with_bucket)
{
    std::vector<std::int16_t> rows;
    for (std::size_t i = 0; i < map.size * map.copies(); ++i)
        rows.push_back(static_cast<std::int16_t>(static_cast<int>(c.below(with_bucket + 1)) - 1));
    return rows;
}

cluster_config any_config(choices& c)
{
    cluster_config made{.revision = {.rev = static_cast<std::int64_t>(c.below(1'000))}};
    if (c.one_in(2))
        made.revision.epoch = static_cast<std::int64_t>(c.below(4));
    const std::size_t node_count = 1 + c.below(5);
    for (std::size_t i = 0; i < node_count; ++i)
        made.nodes.push_back(any_node(c, i));
    made.nodes[c.below(node_count)].is_this_node = true;
    if (c.one_in(2))
        made.capabilities = {"n1ql.a", "n1ql.b"};
    if (c.one_in(4))
        return made;
    bucket_config bucket{.name = "b", .uuid = "u", .capabilities = {"x", "y"}};
    if (c.one_in(2))
        bucket.manifest_uid = c.scattered();
    const std::size_t with_bucket = 1 + c.below(node_count);
    for (std::size_t i = 0; i < with_bucket; ++i)
        made.nodes[i].has_bucket = true;
    bucket.map = {.size = 1U << c.below(6),
                  .replicas = static_cast<std::uint32_t>(c.below(max_replicas + 1))};
    bucket.map.nodes = any_rows(c, bucket.map, with_bucket);
    if (c.one_in(3))
        bucket.map.forward = any_rows(c, bucket.map, with_bucket);
    made.bucket = std::move(bucket);
    return made;
}

config_layout any_layout(choices& c, const cluster_config& config)
{
    config_layout layout;
    layout.revision = static_cast<config_layout::place>(c.below(3));
    layout.epoch_first = c.one_in(2);
    layout.spaces = c.one_in(3);
    layout.short_rows = c.one_in(2);
    if (c.one_in(3))
        layout.host_placeholder = config.nodes.front().host;
    return layout;
}

TEST(couchbase_config_property, generated_configuration_parses_back_and_peek_agrees)
{
    check(
        [] {
            const choice_bytes bytes = *any_choices();
            choices c{bytes};
            const cluster_config config = any_config(c);
            const config_layout layout = any_layout(c, config);
            const std::string text = config_text(config, layout);
            const auto parsed = parse_config(text, config.nodes.front().host);
            RC_ASSERT((parsed.has_value()));
            RC_ASSERT((*parsed == config));
            const auto seen = peek_revision(text);
            if (layout.revision == config_layout::place::middle)
                RC_ASSERT((!seen || *seen == config.revision));
            else
                RC_ASSERT((seen == config.revision));
        },
        config_count());
}

/// What every reader of a configuration relies on.
void require_valid(const cluster_config& config)
{
    RC_ASSERT((!config.nodes.empty() && config.nodes.size() <= max_nodes));
    if (!config.bucket)
        return;
    const vbucket_map& map = config.bucket->map;
    RC_ASSERT((map.nodes.size() == map.size * map.copies()));
    RC_ASSERT((map.forward.empty() || map.forward.size() == map.nodes.size()));
    for (const auto* rows : {&map.nodes, &map.forward})
        for (const std::int16_t node : *rows)
            RC_ASSERT((node >= no_node && node < std::ssize(config.nodes)));
}

TEST(couchbase_config_property, damaged_configuration_is_refused_or_valid)
{
    check(
        [] {
            const choice_bytes bytes = *any_choices();
            choices c{bytes};
            const cluster_config config = any_config(c);
            std::string text = config_text(config, any_layout(c, config));
            constexpr std::string_view damage = "0129-\"[]{},:x\\ ";
            for (std::size_t times = 1 + c.below(3); times > 0; --times)
                text[c.scattered() % text.size()] = c.pick(damage);
            const auto parsed = parse_config(text, "h");
            if (!parsed) {
                RC_ASSERT((!parsed.error().message().empty()));
                return;
            }
            require_valid(*parsed);
            const auto seen = peek_revision(text);
            RC_ASSERT((!seen || *seen == parsed->revision));
        },
        config_count());
}

/// Whatever comes, in whatever order, the configuration in use is the newest of the valid ones.
TEST(couchbase_config_property, intake_never_goes_back)
{
    check(
        [] {
            const choice_bytes bytes = *any_choices();
            choices c{bytes};
            config_intake intake;
            std::optional<config_revision> newest;
            for (std::size_t offers = c.below(12); offers > 0; --offers) {
                cluster_config config = proof::sample_config(2, 1, 2);
                config.revision = {.rev = static_cast<std::int64_t>(c.below(6))};
                if (c.one_in(2))
                    config.revision.epoch = static_cast<std::int64_t>(c.below(3));
                const bool is_broken = c.one_in(3);
                if (is_broken)
                    config.bucket->map.nodes[1] = 9;
                // Of another host each time: what one host has broken another may have whole.
                const std::string host = "h" + std::to_string(offers);
                const auto outcome = intake.consider(
                    {.text = config_text(config), .host = host, .bucket = "travel"});
                const bool is_newer = !newest || *newest < config.revision;
                RC_ASSERT(
                    ((outcome.is == offer_outcome::status::taken) == (is_newer && !is_broken)));
                if (is_newer && !is_broken)
                    newest = config.revision;
                RC_ASSERT((outcome.config == intake.current()));
                RC_ASSERT((intake.current() ? intake.current()->revision == newest : !newest));
            }
        },
        config_count());
}

TEST(couchbase_config_property, changes_account_for_every_node_once)
{
    check(
        [] {
            const choice_bytes bytes = *any_choices();
            choices c{bytes};
            const cluster_config before = any_config(c);
            const cluster_config after = any_config(c);
            const config_changes changes = changes_between(before, after);
            RC_ASSERT((changes.removed.size() + changes.kept.size() == before.nodes.size()));
            RC_ASSERT((changes.added.size() + changes.kept.size() == after.nodes.size()));
            RC_ASSERT((changes_between(after, after).kept.size() == after.nodes.size()));
            for (const auto& kept : changes.kept)
                RC_ASSERT((before.nodes[kept.before].host == after.nodes[kept.after].host));
        },
        config_count());
}

TEST(couchbase_route_property, route_of_a_key_is_stable_and_inside_of_the_map)
{
    check(
        [] {
            const choice_bytes bytes = *any_choices();
            choices c{bytes};
            const cluster_config config = any_config(c);
            if (!config.bucket)
                return;
            const vbucket_map& map = config.bucket->map;
            const std::string key{bytes.begin(), bytes.end()};
            const std::uint16_t vbucket = vbucket_of(key, map.size);
            RC_ASSERT((vbucket < map.size));
            RC_ASSERT((vbucket == vbucket_of(key, 32'768) % map.size));
            const auto copies = copies_to_read(config, vbucket, read_preference::none, "");
            for (const readable_copy& one : copies.all())
                RC_ASSERT((node_of(map, vbucket, one.copy) == one.node));
            for (std::size_t node = 0; node < config.nodes.size(); ++node)
                RC_ASSERT((node_after_refusal(map, vbucket, node) != node));
        },
        config_count());
}

}  // namespace
}  // namespace holdfast::property::couchbase_config_test
