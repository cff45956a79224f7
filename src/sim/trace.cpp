#include "sim/trace.hpp"

namespace holdfast::sim {
namespace {

template <class Byte>
std::uint64_t hash_of(const Byte* bytes, std::size_t size) noexcept
{
    std::uint64_t hash = 0xcbf29ce484222325 ^ size;
    std::size_t at = 0;
    while (at < size) {
        std::uint64_t chunk = 0;
        if (size - at >= 8) {
            for (unsigned i = 0; i < 8; ++i)  // compilers make this one load
                chunk |= std::uint64_t{static_cast<std::uint8_t>(bytes[at + i])} << 8 * i;
            at += 8;
        } else {
            for (unsigned i = 0; at < size; ++i, ++at)
                chunk |= std::uint64_t{static_cast<std::uint8_t>(bytes[at])} << 8 * i;
        }
        hash = (hash ^ chunk) * 0x9fb21c651e98df25;
        hash ^= hash >> 29;
    }
    return hash;
}

}  // namespace

void trace::keep_line(std::string line)
{
    const auto since_start = std::chrono::duration_cast<std::chrono::microseconds>(time_.now() -
                                                                                   timeline::start);
    const std::string fraction = std::to_string(since_start.count() % 1000);
    std::string stamped = std::to_string(since_start.count() / 1000) + '.';
    stamped.append(3 - fraction.size(), '0').append(fraction).append(" ms ").append(line);
    if (lines_.size() == lines_max)
        lines_.erase(lines_.begin(), lines_.begin() + lines_max / 2);
    lines_.push_back(std::move(stamped));
}

std::uint64_t content_hash(std::span<const std::uint8_t> bytes) noexcept
{
    return hash_of(bytes.data(), bytes.size());
}

std::uint64_t content_hash(std::string_view text) noexcept
{
    return hash_of(text.data(), text.size());
}

}  // namespace holdfast::sim
