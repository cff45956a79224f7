#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/error.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace holdfast::core::mongo {

/// How settled data must be to be read. No level: the server's default.
struct read_concern {
    std::optional<std::string> level = {};

    bool is_default() const noexcept { return !level; }
    friend bool operator==(const read_concern&, const read_concern&) = default;
};

/// How safe a write must be before it is acknowledged.
struct write_concern {
    std::variant<std::monostate, std::int32_t, std::string> w = {};  // nothing: server's default
    std::optional<bool> journal = {};
    std::optional<std::chrono::milliseconds> wtimeout = {};

    bool is_default() const noexcept { return w.index() == 0 && !journal && !wtimeout; }

    /// False for w:0 without a journal: the server sends no reply.
    bool is_acknowledged() const noexcept
    {
        const auto* members = std::get_if<std::int32_t>(&w);
        return !members || *members != 0 || journal.value_or(false);
    }

    friend bool operator==(const write_concern&, const write_concern&) = default;
};

/// Negative numbers, and a journal that w:0 would never wait for, are errors.
result<void> check(const write_concern& concern);

/// As a command carries them; without a field for what is the default.
bson::document to_document(const read_concern& concern);
bson::document to_document(const write_concern& concern);

}  // namespace holdfast::core::mongo
