#include "core/mongo/wire/frame_reader.hpp"

#include <utility>

namespace holdfast::core::mongo {

result<std::variant<need_more, frame>> next_frame(std::span<const std::uint8_t> received,
                                                  std::size_t limit)
{
    using answer = std::variant<need_more, frame>;
    if (received.size() < header_size)
        return answer{need_more{header_size - received.size()}};
    auto header = parse_header(received, limit);
    if (!header) [[unlikely]]
        return std::move(header).error();
    if (received.size() < header->length)
        return answer{need_more{header->length - received.size()}};
    return answer{frame{*header, received.first(header->length)}};
}

result<std::variant<need_more, frame>> frame_reader::next()
{
    auto found = next_frame(bytes(), limit_);
    if (!found) [[unlikely]]
        return found;
    if (const auto* whole = std::get_if<frame>(&*found))
        take(whole->bytes.size());
    else
        need(std::get_if<need_more>(&*found)->bytes);
    return found;
}

}  // namespace holdfast::core::mongo
