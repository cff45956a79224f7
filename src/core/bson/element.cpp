#include "holdfast/bson/element.hpp"

#include "core/bson/quote.hpp"
#include "holdfast/bson/errc.hpp"
#include "holdfast/bson/view.hpp"

#include <cstring>
#include <string>

namespace holdfast::bson {

namespace {

constexpr std::size_t length_field = sizeof(std::int32_t);

std::string hexadecimal(std::uint8_t byte)
{
    constexpr char digits[] = "0123456789abcdef";
    return {'0', 'x', digits[byte >> 4], digits[byte & 15]};
}

}  // namespace

element element::missing(std::string_view key) noexcept
{
    element e;
    e.key_ = reinterpret_cast<const std::uint8_t*>(key.data());
    e.key_size_ = static_cast<std::uint32_t>(key.size());
    return e;
}

element element::malformed_at(const std::uint8_t* at, const std::uint8_t* begin,
                              const std::uint8_t* terminator) noexcept
{
    element e;
    e.key_ = at + 1;
    e.value_ = terminator;
    e.value_size_ = static_cast<std::uint32_t>(at - begin);
    e.malformed_ = true;
    return e;
}

std::string element::fault() const
{
    if (!malformed_)
        return {};
    const std::uint8_t* const terminator = value_;
    const std::uint8_t tag = key_[-1];
    const std::size_t fixed = layout::fixed_size[tag];
    if (fixed == layout::no_type)
        return "unknown type " + hexadecimal(tag);
    const std::string_view name{reinterpret_cast<const char*>(key_)};
    const std::uint8_t* const value = key_ + name.size() + 1;
    if (value > terminator)
        return "the key is not ended by a zero byte";
    const std::string of = std::string{name_of(bson::type{tag})} + " in " + quote(name) + ": ";
    const auto room = static_cast<std::size_t>(terminator - value);
    const std::string left = std::to_string(room) + " bytes are left in the document";
    if (fixed != layout::variable)
        return of + "needs " + std::to_string(fixed) + " bytes, " + left;
    if (bson::type{tag} == bson::type::regex)
        return of + "pattern and options are not both ended by a zero byte";
    if (room <= length_field)
        return of + "no room for a length, " + left;
    const auto length = load<std::int32_t>(value);
    const bool ends_ill = length > 0 && static_cast<std::size_t>(length) + length_field <= room;
    if (bson::type{tag} == bson::type::code_with_scope || !ends_ill)
        return of + "length " + std::to_string(length) + " is impossible, " + left;
    return of + "length " + std::to_string(length) + " does not lead to a zero byte";
}

error element::mismatch(std::string_view expected) const
{
    if (malformed_) {
        return error{errc::malformed,
                     "malformed BSON at offset " + std::to_string(value_size_) + ": " + fault()}
            .with_context("offset", std::to_string(value_size_));
    }
    const std::string path{key()};
    if (type_ == bson::type::invalid)
        return error{errc::missing_field, path + ": missing"}.with_context("path", path);
    const std::string found{name_of(type_)};
    return error{errc::wrong_type, path + ": expected " + std::string{expected} + ", found " + found}
        .with_context("path", path)
        .with_context("expected", std::string{expected})
        .with_context("found", found);
}

result<db_pointer> element::as_db_pointer() const
{
    if (type_ != bson::type::db_pointer)
        return mismatch(name_of(bson::type::db_pointer));
    const std::size_t text = value_size_ - length_field - sizeof(object_id);
    if (text < 1 || value_[length_field + text - 1] != 0) {
        return error{errc::malformed, std::string{key()} + ": DBPointer without a terminated name"}
            .with_context("path", std::string{key()});
    }
    const auto* name = reinterpret_cast<const char*>(value_ + length_field);
    return db_pointer{{name, text - 1},
                      {load<std::array<std::uint8_t, 12>>(value_ + length_field + text)}};
}

result<code_with_scope> element::as_code_with_scope() const
{
    if (type_ != bson::type::code_with_scope)
        return mismatch(name_of(bson::type::code_with_scope));
    const auto malformed = [this](std::string_view why) {
        return error{errc::malformed,
                     std::string{key()} + ": code with scope: " + std::string{why}}
            .with_context("path", std::string{key()});
    };
    constexpr std::size_t smallest_scope = 5;
    const std::uint8_t* const text = value_ + 2 * length_field;
    const std::size_t room = value_size_ - 2 * length_field;  // at least 6, see measure()
    const auto length = static_cast<std::size_t>(load<std::uint32_t>(value_ + length_field));
    if (length < 1 || length > room - smallest_scope)
        return malformed("the code's length does not leave room for a scope");
    if (text[length - 1] != 0)
        return malformed("the code is not ended by a zero byte");
    auto scope = view::parse({text + length, room - length});
    if (!scope)
        return malformed("the scope is not a document of the length that is left");
    return code_with_scope{{reinterpret_cast<const char*>(text), length - 1}, *scope};
}

}  // namespace holdfast::bson
