#pragma once
#include "holdfast/error.hpp"

#include <cstdint>
#include <string_view>

namespace holdfast::core::mongo {

namespace label {

inline constexpr std::string_view retryable_write = "RetryableWriteError";
inline constexpr std::string_view no_writes_performed = "NoWritesPerformed";
inline constexpr std::string_view system_overloaded = "SystemOverloadedError";
inline constexpr std::string_view retryable = "RetryableError";

}  // namespace label

/// The labels that decisions depend on, read off an error once.
struct known_labels {
    bool retryable_write = false;
    bool no_writes_performed = false;
    bool system_overloaded = false;
    bool retryable = false;

    static known_labels of(const error& e) noexcept
    {
        return {.retryable_write = e.has_label(label::retryable_write),
                .no_writes_performed = e.has_label(label::no_writes_performed),
                .system_overloaded = e.has_label(label::system_overloaded),
                .retryable = e.has_label(label::retryable)};
    }
};

}  // namespace holdfast::core::mongo
