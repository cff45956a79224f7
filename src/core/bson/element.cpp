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

std::size_t element::measure_two_texts(const std::uint8_t* value, std::ptrdiff_t room) noexcept
{
    constexpr std::size_t malformed = PTRDIFF_MAX;
    if (room < 2)
        return malformed;
    const auto* text = reinterpret_cast<const char*>(value);
    const std::size_t pattern = std::strlen(text) + 1;
    if (pattern >= static_cast<std::size_t>(room))
        return malformed;
    return pattern + std::strlen(text + pattern) + 1;
}

std::string element::fault() const
{
    if (!malformed())
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
    if (fixed < layout::variable)
        return of + "needs " + std::to_string(fixed) + " bytes, " + left;
    if (bson::type{tag} == bson::type::regex)
        return of + "pattern and options are not both ended by a zero byte";
    if (room <= length_field)
        return of + "no room for a length, " + left;
    const auto length = load<std::int32_t>(value);
    const layout::shape& shape = layout::shapes[fixed - layout::variable];
    const std::string says = of + "length " + std::to_string(length);
    if (length >= 0 && static_cast<std::uint32_t>(length) >= shape.least &&
        static_cast<std::size_t>(length) + shape.extra <= room)
        return says + " does not lead to a zero byte";
    return says + " is impossible, " + left;
}

error element::mismatch_of(element e, std::string_view expected)
{
    if (e.malformed()) {
        return error{errc::malformed,
                     "malformed BSON at offset " + std::to_string(e.offset_) + ": " + e.fault()}
            .with_context("offset", std::to_string(e.offset_));
    }
    const std::string path{e.key()};
    if (e.type_ == bson::type::invalid)
        return error{errc::missing_field, path + ": missing"}.with_context("path", path);
    const std::string found{name_of(e.type_)};
    return error{errc::wrong_type,
                 path + ": expected " + std::string{expected} + ", found " + found}
        .with_context("path", path)
        .with_context("expected", std::string{expected})
        .with_context("found", found);
}

result<db_pointer> element::read_db_pointer(element e)
{
    if (e.type_ != bson::type::db_pointer)
        return e.mismatch(name_of(bson::type::db_pointer));
    const std::size_t text = e.value_size_ - length_field - sizeof(object_id);
    if (text < 1 || e.value_[length_field + text - 1] != 0) {
        return error{errc::malformed,
                     std::string{e.key()} + ": DBPointer without a terminated name"}
            .with_context("path", std::string{e.key()});
    }
    const auto* name = reinterpret_cast<const char*>(e.value_ + length_field);
    return db_pointer{{name, text - 1},
                      {load<std::array<std::uint8_t, 12>>(e.value_ + length_field + text)}};
}

result<code_with_scope> element::read_code_with_scope(element e)
{
    if (e.type_ != bson::type::code_with_scope)
        return e.mismatch(name_of(bson::type::code_with_scope));
    const auto malformed = [&e](std::string_view why) {
        return error{errc::malformed,
                     std::string{e.key()} + ": code with scope: " + std::string{why}}
            .with_context("path", std::string{e.key()});
    };
    constexpr std::size_t smallest_scope = 5;
    const std::uint8_t* const text = e.value_ + 2 * length_field;
    const std::size_t room = e.value_size_ - 2 * length_field;  // at least 6, see measure()
    const auto length = static_cast<std::size_t>(load<std::uint32_t>(e.value_ + length_field));
    if (length < 1 || length > room - smallest_scope)
        return malformed("the code's length does not leave room for a scope");
    if (text[length - 1] != 0)
        return malformed("the code is not ended by a zero byte");
    const std::uint8_t* const scope = text + length;
    if (load<std::uint32_t>(scope) != room - length || scope[room - length - 1] != 0)
        return malformed("the scope is not a document of the length that is left");
    return code_with_scope{{reinterpret_cast<const char*>(text), length - 1}, view::trusted(scope)};
}

}  // namespace holdfast::bson
