#pragma once
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/bson/errc.hpp"
#include "holdfast/error.hpp"
#include "holdfast/json/reader.hpp"
#include "holdfast/json/text_run.hpp"

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

namespace holdfast::json {

/// Writes values at the end of a buffer, without white space. The commas come by themselves.
class writer {
public:
    explicit writer(bson::byte_buffer& out) noexcept : out_{out} {}

    bool write_null() { return write_literal("null"); }
    bool write(bool value) { return write_literal(value ? "true" : "false"); }
    template <std::integral Number>
    bool write(Number value)
    {
        separate();
        constexpr std::size_t longest = 20;
        char* const room = reinterpret_cast<char*>(out_.grow(longest));
        const auto end = std::to_chars(room, room + longest, value).ptr;
        out_.truncate(out_.size() - longest + static_cast<std::size_t>(end - room));
        return true;
    }
    /// The shortest text that gives the same number again. JSON has no infinities.
    bool write(double value);
    bool write(float value);
    /// Fails if it is not UTF-8.
    bool write(std::string_view text)
    {
        separate();
        return put_text(text);
    }

    void begin_object() { open('{'); }
    void end_object() { close('}'); }
    void begin_array() { open('['); }
    void end_array() { close(']'); }
    /// Before each value of an object.
    bool key(std::string_view name)
    {
        separate();
        if (!put_text(name)) [[unlikely]]
            return false;
        put(':');
        first_ = true;
        return true;
    }
    /// A name that is known to need no escapes.
    void plain_key(std::string_view name)
    {
        const std::size_t comma = !first_;
        auto* const to = reinterpret_cast<char*>(out_.grow(name.size() + 3 + comma));
        to[0] = ',';
        to[comma] = '"';
        name.copy(to + comma + 1, name.size());
        to[comma + 1 + name.size()] = '"';
        to[comma + 2 + name.size()] = ':';
        first_ = true;
    }

    /// A text that is JSON already.
    bool write_json(std::string_view text);

    /// A level deeper; too deep a nesting is a failure.
    bool enter()
    {
        return ++depth_ <= max_depth || fail(errc::too_deep, "nested too deeply to be written");
    }
    void leave() noexcept { --depth_; }

    bool failed() const noexcept { return fault_.has_value(); }
    bool fail(error what)
    {
        fault_ = std::move(what);
        return false;
    }
    bool fail(errc code, std::string_view message);
    bool fail_inside(std::string_view field)
    {
        return fault_ && fail(bson::inside(*std::move(fault_), field));
    }
    error fault() && { return *std::move(fault_); }

private:
    void put(char c) { *out_.grow(1) = static_cast<std::uint8_t>(c); }
    void separate()
    {
        if (!first_)
            put(',');
        first_ = false;
    }
    void open(char bracket)
    {
        separate();
        put(bracket);
        first_ = true;
    }
    void close(char bracket)
    {
        put(bracket);
        first_ = false;
    }
    bool write_literal(std::string_view literal)
    {
        separate();
        std::memcpy(out_.grow(literal.size()), literal.data(), literal.size());
        return true;
    }
    bool put_text(std::string_view text)
    {
        const text_run run = scan_text(text);
        if (run.size != text.size() || run.has_high_bits) [[unlikely]]
            return put_escaped(text);
        auto* const to = reinterpret_cast<char*>(out_.grow(text.size() + 2));
        to[0] = '"';
        text.copy(to + 1, text.size());
        to[text.size() + 1] = '"';
        return true;
    }
    bool put_escaped(std::string_view text);

    bson::byte_buffer& out_;
    int depth_ = 0;
    bool first_ = true;  // no comma before the next value
    std::optional<error> fault_;
};

}  // namespace holdfast::json
