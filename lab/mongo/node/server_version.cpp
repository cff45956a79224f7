#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/node/node.hpp"

#include <charconv>

namespace holdfast::lab::mongo {

namespace {

struct release {
    int major;
    int minor;
    int wire;
};

constexpr release releases[] = {
    {3, 6, 6},  {4, 0, 7},  {4, 2, 8},  {4, 4, 9},  {5, 0, 13}, {5, 1, 14}, {5, 2, 15},
    {5, 3, 16}, {6, 0, 17}, {6, 1, 18}, {6, 2, 19}, {6, 3, 20}, {7, 0, 21}, {7, 1, 22},
    {7, 2, 23}, {7, 3, 24}, {8, 0, 25}, {8, 1, 26}, {8, 2, 27},
};

const release* release_of(const server_version& version) noexcept
{
    for (const release& one : releases) {
        if (one.major == version.major && one.minor == version.minor)
            return &one;
    }
    return nullptr;
}

}  // namespace

int server_version::wire() const noexcept
{
    const release* const known = release_of(*this);
    return known != nullptr ? known->wire : releases[std::size(releases) - 1].wire;
}

std::string server_version::text() const
{
    return family() + '.' + std::to_string(patch);
}

std::string server_version::family() const
{
    return std::to_string(major) + '.' + std::to_string(minor);
}

result<server_version> read_version(std::string_view text)
{
    server_version version;
    version.minor = 0;
    int* const parts[] = {&version.major, &version.minor, &version.patch};
    const char* at = text.data();
    const char* const end = text.data() + text.size();
    bool fine = !text.empty();
    for (std::size_t i = 0; i < std::size(parts) && fine; ++i) {
        const auto [next, why] = std::from_chars(at, end, *parts[i]);
        fine = why == std::errc{} && *parts[i] >= 0 && *parts[i] < 1000;
        at = next;
        if (at == end)
            break;
        fine = fine && *at++ == '.' && at != end;
    }
    if (!fine || at != end || release_of(version) == nullptr)
        return refuse(server_code::bad_value, "no version that can be claimed: '" +
                                                  std::string{text} +
                                                  "'; any release from 3.6 to 8.2 can");
    return version;
}

}  // namespace holdfast::lab::mongo
