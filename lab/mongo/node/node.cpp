#include "lab/mongo/node/node.hpp"

#include "lab/mongo/document/server_code.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace holdfast::lab::mongo {

namespace {

constexpr std::size_t most_sessions = 100'000;
constexpr auto session_timeout = std::chrono::minutes{30};
constexpr std::uint32_t history_seconds = 300;  // as MongoDB's minSnapshotHistoryWindowInSeconds

/// It must differ from that of every earlier life of this server.
bson::object_id draw_process_id(runtime::world& in)
{
    bson::object_id id;
    in.random(id.bytes);
    const auto seconds = static_cast<std::uint32_t>(
        std::chrono::duration_cast<std::chrono::seconds>(in.wall_now().time_since_epoch()).count());
    for (std::size_t i = 0; i < 4; ++i)
        id.bytes[i] = static_cast<std::uint8_t>(seconds >> (24 - 8 * i));
    return id;
}

}  // namespace

node::node(runtime::world& in, std::shared_ptr<disk> on, node_options initial)
    : world{in},
      options{std::move(initial)},
      data{std::move(on)},
      member{std::make_unique<standalone>()},
      process{draw_process_id(in)},
      news{in}
{
    saw_cluster_time(data->last().ts);
    if (!options.remembers_statements)
        data->sessions().switch_off();
}

node::~node() = default;

void node::topology_changed()
{
    ++topology_counter_;
    news.notify();
}

void node::saw_cluster_time(bson::timestamp at) noexcept
{
    cluster_time_ = std::max(cluster_time_, at);
}

bson::datetime node::wall_now() const
{
    return std::chrono::floor<std::chrono::milliseconds>(world.wall_now());
}

result<optime> node::write(const change& what)
{
    if (!member->writable())
        return refuse(server_code::not_writable_primary, "not primary");
    bson::datetime wall = wall_now();
    if (cluster_time_ > data->last().ts) {
        // A time that others know of has passed here as well: the next one is greater.
        const bson::datetime after{std::chrono::seconds{cluster_time_.seconds} +
                                   std::chrono::seconds{1}};
        wall = std::max(wall, after);
    }
    auto written = data->write(what, member->term(), wall);
    if (!written)
        return written;
    saw_cluster_time(written->ts);
    member->wrote(*written);
    forget_history();
    news.notify();
    return written;
}

void node::forget_history()
{
    const bson::timestamp last = data->last().ts;
    if (last.seconds == forgot_at_)
        return;
    forgot_at_ = last.seconds;
    bson::timestamp oldest = last;  // a standalone has no snapshots
    if (member->in_set()) {
        const std::uint32_t kept = std::min(history_seconds, last.seconds);
        oldest = std::min(bson::timestamp{last.seconds - kept, 0}, member->committed().ts);
    }
    if (oldest > data->history_from())
        data->forget_before(oldest);
}

const command* node::find_command(std::string_view name) const noexcept
{
    const auto found = commands_.find(name);
    return found == commands_.end() ? nullptr : found->second;
}

void node::add_commands(std::span<const command> more)
{
    for (const command& one : more)
        commands_.insert_or_assign(one.name, &one);
}

std::vector<const command*> node::commands() const
{
    std::vector<const command*> all;
    all.reserve(commands_.size());
    for (const auto& [name, one] : commands_)
        all.push_back(one);
    return all;
}

void node::touch_session(const session_key& session)
{
    const auto found = sessions_.find(session);
    if (found != sessions_.end()) {
        found->second = now();
        return;
    }
    if (sessions_.size() >= most_sessions) {
        const time_point old = now() - session_timeout;
        std::erase_if(sessions_, [&](const auto& one) { return one.second < old; });
        if (sessions_.size() >= most_sessions)
            sessions_.erase(sessions_.begin());
    }
    sessions_.emplace(session, now());
}

void node::end_session(const session_key& session)
{
    sessions_.erase(session);
    cursors.remove_of(session);
}

}  // namespace holdfast::lab::mongo
