#include "select_fixture.hpp"

#include <map>
#include <random>

namespace holdfast::core::mongo::select_test::snapshot_test {
namespace {

using namespace std::chrono_literals;
using enum read_mode;

constexpr read_mode all_modes[] = {primary, primary_preferred, secondary, secondary_preferred,
                                   nearest};

std::string letters_at(const topology_ptr& t, std::span<const std::uint32_t> positions)
{
    std::vector<server_ptr> servers;
    for (const std::uint32_t at : positions)
        servers.push_back(t->servers.at(at));
    return letters(servers);
}

/// The answer without any preparation.
std::string long_way(const topology_ptr& t, const selection_request& request,
                     const selection_settings& settings)
{
    const auto found = suitable_servers(*t, request, settings);
    return found ? letters(in_latency_window(*found, settings.local_threshold)) : "error";
}

std::string from_snapshot(const selection_snapshot& s, const selection_request& request)
{
    const auto found = s.candidates(request);
    return found ? letters_at(s.topology(), *found) : "error";
}

topology_ptr random_topology(std::mt19937_64& chance)
{
    const auto below = [&](std::uint64_t n) { return chance() % n; };
    constexpr server_type types[] = {rs_primary, rs_secondary,         rs_secondary,
                                     mongos,     server_type::unknown, rs_arbiter,
                                     standalone, load_balancer,        rs_ghost};
    std::vector<server_description> servers;
    const auto kind = static_cast<topology_type>(below(6));
    const std::uint64_t count = below(7);
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::string name{static_cast<char>('a' + i)};
        tag_set tags;
        if (below(2) == 0)
            tags["dc"] = below(2) == 0 ? "ny" : "sf";
        servers.push_back(wrote(server(name, types[below(std::size(types))],
                                       std::chrono::milliseconds{below(40)}, std::move(tags)),
                                static_cast<std::int64_t>(below(300))));
    }
    return topology(kind, std::move(servers));
}

TEST(selection_snapshot, result_equals_suitable_servers_on_random_topologies)
{
    std::mt19937_64 chance{7};
    const std::vector<endpoint> avoided{reported_address("a"), reported_address("c")};
    for (int round = 0; round < 2000; ++round) {
        const topology_ptr t = random_topology(chance);
        selection_settings settings;
        settings.local_threshold = std::chrono::milliseconds{chance() % 30};
        const selection_snapshot snapshot{t, settings};
        EXPECT_EQ(letters_at(t, snapshot.for_writes()), long_way(t, writes(), settings));
        for (const read_mode mode : all_modes) {
            EXPECT_EQ(letters_at(t, snapshot.for_reads(mode)), long_way(t, reads(mode), settings));
            selection_request requests[] = {reads(mode), reads(mode, {{{"dc", "ny"}}}),
                                            reads(mode, {}, 100s), reads(mode), writes()};
            requests[3].deprioritised = requests[4].deprioritised = avoided;
            for (const selection_request& request : requests)
                EXPECT_EQ(from_snapshot(snapshot, request), long_way(t, request, settings));
        }
    }
}

TEST(selection_snapshot, common_requests_are_prepared)
{
    const topology_ptr t = replica_set({server("p", rs_primary), server("s", rs_secondary)});
    const selection_snapshot snapshot{t, {}};
    EXPECT_EQ(letters_at(t, *snapshot.prepared(writes())), "p");
    EXPECT_EQ(letters_at(t, *snapshot.prepared(reads(secondary))), "s");
    EXPECT_EQ(snapshot.prepared(reads(secondary, {{{"dc", "ny"}}})), nullptr);
    EXPECT_EQ(snapshot.prepared(reads(secondary, {}, 100s)), nullptr);
    const std::vector<endpoint> avoided{reported_address("p")};
    selection_request elsewhere = writes();
    elsewhere.deprioritised = avoided;
    EXPECT_EQ(snapshot.prepared(elsewhere), nullptr);
    EXPECT_EQ(snapshot.topology(), t);
    EXPECT_EQ(snapshot.settings().local_threshold, 15ms);
}

TEST(selection_snapshot, custom_selector_is_called_for_each_selection)
{
    const topology_ptr t = replica_set({server("s", rs_secondary), server("t", rs_secondary)});
    int asked = 0;
    selection_settings settings;
    settings.selector = [&](std::span<const server_ptr> given) {
        return std::vector<server_ptr>{given[static_cast<std::size_t>(asked++ % 2)]};
    };
    const selection_snapshot snapshot{t, settings};
    EXPECT_EQ(asked, 0);
    EXPECT_TRUE(snapshot.for_reads(secondary).empty());
    EXPECT_EQ(from_snapshot(snapshot, reads(secondary)), "s");
    EXPECT_EQ(from_snapshot(snapshot, reads(secondary)), "t");
}

TEST(selection_snapshot, incompatible_topology_returns_the_error)
{
    topology_description t = *replica_set({server("p", rs_primary)});
    t.compatibility_error = "too old";
    const selection_snapshot snapshot{std::make_shared<const topology_description>(t), {}};
    EXPECT_TRUE(snapshot.for_writes().empty());
    EXPECT_EQ(from_snapshot(snapshot, writes()), "error");
}

TEST(choice_of_two, server_with_fewer_operations_is_taken)
{
    const std::uint32_t candidates[] = {4, 7};
    const auto choose_with = [&](std::uint64_t chance, int at_four, int at_seven) {
        return choose(candidates, chance,
                      [&](std::uint32_t at) { return at == 4 ? at_four : at_seven; });
    };
    constexpr std::uint64_t first_of_two = 0;
    constexpr std::uint64_t second_of_two = 0xFFFFFFFF;
    for (const std::uint64_t chance : {first_of_two, second_of_two}) {
        EXPECT_EQ(choose_with(chance, 1, 2), 4u);
        EXPECT_EQ(choose_with(chance, 2, 1), 7u);
    }
    EXPECT_EQ(choose_with(first_of_two, 3, 3), 4u) << "between equals chance decides";
    EXPECT_EQ(choose_with(second_of_two, 3, 3), 7u);
}

TEST(choice_of_two, single_candidate_is_taken_without_comparison)
{
    const std::uint32_t only[] = {9};
    EXPECT_EQ(choose(only, 12345, [](std::uint32_t) -> int { throw 1; }), 9u);
}

TEST(choice_of_two, every_pair_of_servers_is_drawn_uniformly)
{
    const std::uint32_t candidates[] = {0, 1, 2, 3};
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> pairs;
    std::mt19937_64 chance{3};
    constexpr int rounds = 60'000;
    for (int i = 0; i < rounds; ++i) {
        std::vector<std::uint32_t> asked;
        choose(candidates, chance(), [&](std::uint32_t at) {
            asked.push_back(at);
            return 0;
        });
        ASSERT_EQ(asked.size(), 2u);
        ASSERT_NE(asked[0], asked[1]);
        ++pairs[std::minmax(asked[0], asked[1])];
    }
    ASSERT_EQ(pairs.size(), 6u);
    for (const auto& [pair, count] : pairs)
        EXPECT_NEAR(count, rounds / 6, rounds / 100) << pair.first << ' ' << pair.second;
}

}  // namespace
}  // namespace holdfast::core::mongo::select_test::snapshot_test
