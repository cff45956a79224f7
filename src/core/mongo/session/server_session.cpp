#include "core/mongo/session/server_session.hpp"

#include "holdfast/bson/errc.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

namespace holdfast::core::mongo {

bson::document server_session::lsid() const
{
    return bson::doc("id", id_);
}

result<std::int64_t> server_session::next_transaction_number()
{
    if (transaction_number_ == std::numeric_limits<std::int64_t>::max()) {
        return error{bson::errc::out_of_range,
                     "all transaction numbers of this session are used; start a new session"};
    }
    return ++transaction_number_;
}

result<transaction_id> next_transaction_id(server_session& session)
{
    auto number = session.next_transaction_number();
    if (!number)
        return std::move(number).error();
    return transaction_id{session.id(), *number};
}

void write_lsid(bson::builder& command, const bson::uuid& session)
{
    // {id: UUID}, always of this form: copying it costs a third of building it.
    std::array<std::uint8_t, 30> lsid{30, 0, 0, 0, 5, 'i', 'd', 0, 16, 0, 0, 0, 4};
    static_assert(sizeof session.bytes == 16);
    std::memcpy(lsid.data() + 13, session.bytes.data(), sizeof session.bytes);
    command.put_raw(bson::type::document, "lsid", lsid);
}

void write_transaction_id(bson::builder& command, const transaction_id& id)
{
    write_lsid(command, id.session);
    command.put("txnNumber", id.number);  // an int64 however small it is: the server takes no other
}

bool server_session::expires_soon(time_point now,
                                  std::optional<std::int32_t> timeout_minutes) const noexcept
{
    if (!timeout_minutes)
        return false;  // the server does not say, or there are only load balancers
    if (!last_used_)
        return false;  // never sent, so the server does not know it yet
    return now - *last_used_ >= std::chrono::minutes{*timeout_minutes - 1};
}

std::optional<server_session> session_pool::take(time_point now,
                                                 std::optional<std::int32_t> timeout_minutes)
{
    while (!idle_.empty()) {
        server_session top = std::move(idle_.back());
        idle_.pop_back();
        if (!top.expires_soon(now, timeout_minutes))
            return top;
    }
    return std::nullopt;
}

void session_pool::give_back(server_session session, time_point now,
                             std::optional<std::int32_t> timeout_minutes)
{
    // The oldest lie at the bottom: expired ones are dropped when another is returned.
    const auto keep = std::ranges::find_if(
        idle_, [&](const server_session& s) { return !s.expires_soon(now, timeout_minutes); });
    idle_.erase(idle_.begin(), keep);
    if (!session.is_dirty() && !session.expires_soon(now, timeout_minutes))
        idle_.push_back(std::move(session));
}

std::vector<std::vector<bson::uuid>> session_pool::drain(std::size_t most)
{
    std::vector<std::vector<bson::uuid>> batches;
    for (const server_session& s : idle_) {
        if (batches.empty() || batches.back().size() == most)
            batches.emplace_back();
        batches.back().push_back(s.id());
    }
    idle_.clear();
    return batches;
}

}  // namespace holdfast::core::mongo
