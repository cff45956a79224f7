#include "lab/couchbase/map/vbucket_map.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace holdfast::lab::couchbase {

namespace {

bool has(const std::vector<int>& row, int node)
{
    return std::ranges::find(row, node) != row.end();
}

/// How many vbuckets each node has in one column of the map: actives, or the n-th replicas.
class column_load {
public:
    column_load(std::span<const int> nodes, std::size_t vbuckets)
        : least_{vbuckets / nodes.size()}, extra_{vbuckets % nodes.size()}
    {
        for (const int node : nodes)
            count_[node] = 0;
    }

    /// Takes one more for the node if that leaves the column even.
    bool take(int node)
    {
        const auto found = count_.find(node);
        if (found == count_.end() || found->second > least_ ||
            (found->second == least_ && extra_ == 0))
            return false;
        if (found->second == least_)
            --extra_;
        ++found->second;
        return true;
    }

    /// The node with the fewest that is not in the row yet; no_node if all are.
    int take_least(const std::vector<int>& row)
    {
        auto best = count_.end();
        for (auto at = count_.begin(); at != count_.end(); ++at) {
            if (!has(row, at->first) && (best == count_.end() || at->second < best->second))
                best = at;
        }
        if (best == count_.end())
            return no_node;
        ++best->second;
        return best->first;
    }

private:
    std::size_t least_;
    std::size_t extra_;
    std::map<int, std::size_t> count_;
};

/// Fills one column: first what can stay, then the rest.
void fill_column(vbucket_map& made, column_load load, const vbucket_map& current,
                 std::size_t column)
{
    std::vector<std::size_t> open;
    for (std::size_t n = 0; n != made.rows.size(); ++n) {
        const bool known = n < current.rows.size() && column < current.rows[n].size();
        const int now = known ? current.rows[n][column] : no_node;
        if (now == no_node || has(made.rows[n], now) || !load.take(now)) {
            open.push_back(n);
            made.rows[n].push_back(no_node);
        } else {
            made.rows[n].push_back(now);
        }
    }
    for (const std::size_t n : open)
        made.rows[n].back() = load.take_least(made.rows[n]);
}

}  // namespace

bool vbucket_map::is_replica(std::size_t vbucket, int node) const
{
    const std::vector<int>& row = rows.at(vbucket);
    return std::find(row.begin() + 1, row.end(), node) != row.end();
}

vbucket_map balance(std::span<const int> nodes, const balance_options& options,
                    const vbucket_map& current)
{
    vbucket_map made;
    made.rows.resize(options.vbuckets);
    for (std::size_t column = 0; column <= options.replicas; ++column)
        fill_column(made, column_load{nodes, options.vbuckets}, current, column);
    return made;
}

std::vector<vbucket_move> moves_between(const vbucket_map& from, const vbucket_map& to)
{
    std::vector<vbucket_move> steps;
    for (std::size_t n = 0; n != to.rows.size(); ++n) {
        if (n >= from.rows.size() || from.rows[n] != to.rows[n])
            steps.push_back({static_cast<std::uint16_t>(n), to.rows[n]});
    }
    return steps;
}

vbucket_map after(vbucket_map map, const vbucket_move& step)
{
    map.rows.at(step.vbucket) = step.to;
    return map;
}

vbucket_map after_failover(vbucket_map map, int lost)
{
    for (std::vector<int>& row : map.rows) {
        const std::size_t columns = row.size();
        std::erase(row, lost);
        // Only the active column closes up: other replicas keep their places and their data.
        row.resize(columns, no_node);
    }
    return map;
}

std::uint16_t vbucket_of_key(std::string_view key, std::size_t vbuckets) noexcept
{
    constexpr std::uint32_t polynomial = 0xedb88320;
    std::uint32_t crc = ~std::uint32_t{0};
    for (const char c : key) {
        crc ^= static_cast<std::uint8_t>(c);
        for (int bit = 0; bit != 8; ++bit)
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? polynomial : 0);
    }
    return static_cast<std::uint16_t>(((~crc >> 16) & 0x7fff) % vbuckets);
}

}  // namespace holdfast::lab::couchbase
