#pragma once
#include "shell/http/response_reader.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::proof {

/// What a reader makes of bytes.
struct read_reply {
    bool has_head = false;
    int status = 0;
    std::string content_type = {};
    std::string location = {};
    std::string body = {};
    bool ended = false;
    bool keeps_alive = false;
    error_code why = {};  // if it was refused

    friend bool operator==(const read_reply&, const read_reply&) = default;
};

/// Gives bytes to a reader as a connection does, in pieces of these sizes; the last of them holds
/// for the rest.
class reply_feed {
public:
    reply_feed(std::string_view bytes, std::vector<std::size_t> sizes, bool closes)
        : rest_{bytes}, sizes_{std::move(sizes)}, closes_{closes}
    {
    }

    /// False if there is nothing more to come.
    bool give(shell::http::response_reader& to)
    {
        if (rest_.empty()) {
            if (!closes_ || std::exchange(closed_, true))
                return false;
            to.peer_closed();
            return true;
        }
        const std::size_t wanted = sizes_[std::min(turn_++, sizes_.size() - 1)];
        const auto into = to.writable();
        const std::size_t count = std::min({wanted, rest_.size(), into.size()});
        std::memcpy(into.data(), rest_.data(), count);
        to.received(count);
        rest_.remove_prefix(count);
        return true;
    }

private:
    std::string_view rest_;
    const std::vector<std::size_t> sizes_;
    const bool closes_;
    std::size_t turn_ = 0;
    bool closed_ = false;
};

/// One reply, as far as it comes. Pieces of a body have bytes.
inline read_reply read_one(shell::http::response_reader& with, reply_feed& from,
                           std::optional<std::uint64_t> body_limit = {})
{
    read_reply made;
    with.restart(body_limit);
    for (;;) {
        auto step = with.next();
        if (!step) {
            made.why = step.error().code();
            break;
        }
        if (std::holds_alternative<shell::http::reply_end>(*step)) {
            made.ended = true;
            made.keeps_alive = with.keeps_alive();
            break;
        }
        if (const auto* const piece = std::get_if<shell::http::body_piece>(&*step))
            made.body.append(reinterpret_cast<const char*>(piece->data()), piece->size());
        else if (std::holds_alternative<shell::http::head_read>(*step))
            made.has_head = true;
        else if (!from.give(with))
            break;
    }
    if (made.has_head) {
        made.status = with.head().status;
        made.content_type = with.head().content_type;
        made.location = with.head().location;
    }
    return made;
}

}  // namespace holdfast::proof
