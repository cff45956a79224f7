#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

/// Counts how often the bytes of a large document are copied. This program is linked with its own
/// memcpy, memmove and realloc (see tests/CMakeLists.txt): a copy of at least `large` bytes out of
/// tracked memory counts, and its destination is tracked from then on.
namespace holdfast::copy_test {

inline constexpr std::size_t large = 1'000'000;

/// Tracks these bytes. What is tracked already stays tracked.
void track(std::span<const std::uint8_t> bytes);

/// Copies since the last reset().
int copies();

/// Nothing is tracked any more.
void reset();

/// While one lives, nothing is counted: the bytes are at the socket, or come from it.
class at_the_socket {
public:
    at_the_socket();
    at_the_socket(const at_the_socket&) = delete;
    at_the_socket& operator=(const at_the_socket&) = delete;
    ~at_the_socket();
};

}  // namespace holdfast::copy_test
