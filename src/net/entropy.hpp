#pragma once
#include <cstdint>
#include <mutex>
#include <span>

namespace holdfast::net {

/// Random bytes of the operating system, fetched a few hundred at a time: most are asked for eight
/// at a time. Thread-safe. A process that forks does not share bytes with its child.
class entropy {
public:
    entropy() noexcept;
    entropy(const entropy&) = delete;
    entropy& operator=(const entropy&) = delete;
    ~entropy();

    void draw(std::span<std::uint8_t> into) noexcept;

private:
    struct stock;

    std::mutex mutex_;
    stock* stock_;  // null if the system would not give us a page that a fork wipes
};

}  // namespace holdfast::net
