#pragma once
#include "core/mongo/error/errc.hpp"
#include "core/mongo/operation/command.hpp"
#include "core/mongo/operation/space.hpp"
#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/bson/document.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::core::mongo {

/// An option that this operation does not take, or not with this value.
inline error refused(std::string_view option, std::string_view why)
{
    std::string text{option};
    text += ": ";
    text += why;
    return error{errc::invalid_option, std::move(text)}.with_context("option", std::string{option});
}

/// A command while it is written, inside the message that will carry it.
class draft {
public:
    /// `about` is a guess at the size of all but the command's name.
    draft(const operation_space& space, std::string_view name, std::size_t about)
        : draft{space, about + space.collection.size()}
    {
        body.put(name, std::string_view{space.collection});
    }
    /// One whose first field is still to be written.
    draft(const operation_space& space, std::size_t about)
        : bytes_{command_message::start(about + fixed_part)}, body{bytes_}
    {
        to.database = space.database;
        to.timeout = space.timeout;
    }

    /// Unset options are omitted.
    template <class T>
    void put(std::string_view key, const std::optional<T>& value)
    {
        if (value)
            body.add(key, *value);
    }
    void put(std::string_view key, const std::optional<std::chrono::milliseconds>& value)
    {
        if (value)
            body.put(key, std::int64_t{value->count()});
    }

    /// A time limit of the operation's own.
    void limit(const std::optional<std::chrono::milliseconds>& timeout)
    {
        if (timeout)
            to.timeout = timeout;
    }

    result<command> finish()
    {
        if (auto written = body.finish(); !written)
            return std::move(written).error();
        to.body = command_message::adopt(std::move(bytes_));
        return std::move(to);
    }

private:
    static constexpr std::size_t fixed_part = 96;  // names of fields, and common options

    bson::byte_buffer bytes_;

public:
    bson::builder body;
    command to;
};

/// A number of any type, or `other` if it is none.
inline std::int64_t number_or(const bson::element& e, std::int64_t other)
{
    if (e.type() == bson::type::int32) [[likely]]
        return e.as_int32();
    if (e.type() == bson::type::int64)
        return e.as_int64();
    if (e.type() != bson::type::double_)
        return other;
    return e.get<std::int64_t>().value_or(other);
}

inline std::string_view text_or_empty(const bson::element& e) noexcept
{
    return e.type() == bson::type::string ? e.as_string() : std::string_view{};
}

}  // namespace holdfast::core::mongo
