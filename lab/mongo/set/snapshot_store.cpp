#include "lab/mongo/set/snapshot_store.hpp"

#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/set/message_fields.hpp"

namespace holdfast::lab::mongo {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t batch_bytes = 8 << 20;  // well below the limit of a message
constexpr duration unused_limit = 60s;

}  // namespace

void snapshot_store::drop_unused(time_point now)
{
    if (current_ && now - current_->used > unused_limit)
        current_.reset();
}

result<void> snapshot_store::answer(disk& of, time_point now, bson::view request,
                                    bson::builder& reply)
{
    const std::int64_t id = number_or(request.find("id"), 0);
    if (id == 0) {
        const bool busy = current_ && now - current_->used < 5s;
        if (busy)
            return refuse(109, "another member is copying");
        current_ = std::make_shared<snapshot>();
        current_->id = ++taken_;
        take_snapshot(of, *current_);
    }
    const auto from = static_cast<std::size_t>(number_or(request.find("from"), 0));
    const auto taken = current_;
    if (!taken || (id != 0 && taken->id != id) || from > taken->parts.size())
        return refuse(server_code::cursor_not_found, "there is no such snapshot any more");
    taken->used = now;
    reply.add("id", taken->id);
    write_optime(reply, "at", taken->at);
    if (id == 0) {
        if (const auto entry = of.entry_at(taken->at.ts))
            reply.add("entry", entry->view());
    }
    std::size_t next = from;
    {
        bson::array_builder parts = reply.array("parts");
        for (std::size_t bytes = 0; next < taken->parts.size() && bytes < batch_bytes; ++next) {
            bytes += taken->parts[next].size();
            parts.add(taken->parts[next].view());
        }
    }
    const bool done = next == taken->parts.size();
    reply.add("done", done);
    if (done)
        current_.reset();
    return {};
}

}  // namespace holdfast::lab::mongo
