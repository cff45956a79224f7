#include "core/couchbase/wire/frame_reader.hpp"

#include <utility>

namespace holdfast::core::couchbase {

result<std::variant<need_more, frame>> next_frame(std::span<const std::uint8_t> received,
                                                  std::size_t body_limit)
{
    using answer = std::variant<need_more, frame>;
    // A wrong first byte is an error even if it is alone: a peer that speaks another protocol may
    // never send 24.
    const bool too_few = received.size() < frame_header_size;
    if (too_few && (received.empty() || is_magic(received[0])))
        return answer{need_more{frame_header_size - received.size()}};
    auto header = parse_frame_header(received, body_limit);
    if (!header) [[unlikely]]
        return std::move(header).error();
    const std::size_t whole = frame_header_size + header->body_size;
    if (received.size() < whole)
        return answer{need_more{whole - received.size()}};
    return answer{frame{*header, received.first(whole)}};
}

result<std::variant<need_more, frame>> frame_reader::next()
{
    auto found = next_frame(bytes(), body_limit_);
    if (!found) [[unlikely]]
        return found;
    if (const auto* whole = std::get_if<frame>(&*found))
        take(whole->bytes.size());
    else
        need(std::get_if<need_more>(&*found)->bytes);
    return found;
}

}  // namespace holdfast::core::couchbase
