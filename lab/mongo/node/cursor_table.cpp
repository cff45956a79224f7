#include "lab/mongo/node/cursor_table.hpp"

#include "lab/mongo/document/server_code.hpp"

#include <utility>

namespace holdfast::lab::mongo {

result<cursor*> cursor_table::add(cursor made)
{
    if (made.used >= next_look_) {
        forget_unused_since(made.used - kept_unused);
        next_look_ = made.used + kept_unused / 10;
    }
    if (cursors_.size() >= limit)
        return refuse(402, "too many open cursors");
    const std::int64_t id = made.id;
    const auto [place, is_new] = cursors_.try_emplace(id, std::move(made));
    if (id == 0 || !is_new)
        return refuse(server_code::internal_error, "this cursor id is in use");
    return &place->second;
}

cursor* cursor_table::find(std::int64_t id)
{
    const auto found = cursors_.find(id);
    return found == cursors_.end() ? nullptr : &found->second;
}

bool cursor_table::remove(std::int64_t id)
{
    return cursors_.erase(id) != 0;
}

void cursor_table::remove_of(const session_key& session)
{
    std::erase_if(cursors_, [&](const auto& one) { return one.second.session == session; });
}

void cursor_table::remove_on(std::string_view ns)
{
    std::erase_if(cursors_, [&](const auto& one) { return one.second.ns == ns; });
}

void cursor_table::remove_of_connection(std::int64_t connection)
{
    std::erase_if(cursors_, [&](const auto& one) { return one.second.connection == connection; });
}

void cursor_table::forget_unused_since(time_point when)
{
    std::erase_if(cursors_, [&](const auto& one) {
        return !one.second.no_timeout && one.second.used < when;
    });
}

void cursor_table::clear()
{
    cursors_.clear();
}

}  // namespace holdfast::lab::mongo
