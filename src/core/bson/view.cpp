#include "holdfast/bson/view.hpp"

#include "holdfast/bson/errc.hpp"

#include <string>

namespace holdfast::bson {

namespace {

error malformed_envelope(std::size_t offset, std::string why)
{
    return error{errc::malformed,
                 "malformed BSON at offset " + std::to_string(offset) + ": " + std::move(why)}
        .with_context("offset", std::to_string(offset));
}

}  // namespace

result<view> view::parse_prefix(std::span<const std::uint8_t> bytes)
{
    if (bytes.size() < sizeof empty_bytes) {
        return malformed_envelope(0, "a document has at least 5 bytes, here are " +
                                         std::to_string(bytes.size()));
    }
    const auto length = load<std::int32_t>(bytes.data());
    if (length < static_cast<std::int32_t>(sizeof empty_bytes) ||
        static_cast<std::size_t>(length) > bytes.size()) {
        return malformed_envelope(0, "the document's length is " + std::to_string(length) +
                                         ", not within 5 to " + std::to_string(bytes.size()));
    }
    const auto size = static_cast<std::uint32_t>(length);
    if (bytes[size - 1] != 0)
        return malformed_envelope(size - 1, "the document does not end with a zero byte");
    return view{bytes.data(), size};
}

result<view> view::parse(std::span<const std::uint8_t> bytes)
{
    auto first = parse_prefix(bytes);
    if (first && first->size() != bytes.size()) {
        return malformed_envelope(first->size(), std::to_string(bytes.size() - first->size()) +
                                                     " bytes follow the end of the document");
    }
    return first;
}

element view::find_path(std::string_view path) const noexcept
{
    view inside = *this;
    for (;;) {
        const std::size_t dot = path.find('.');
        const element found = inside.find(path.substr(0, dot));
        if (dot == path.npos || found.malformed())
            return found;
        if (found.type() != type::document && found.type() != type::array)
            return element::missing(path);  // all that is left of it
        inside = found.as_document();
        path.remove_prefix(dot + 1);
    }
}

error view::at_path(error e, std::string_view path, const element& found)
{
    if (found.malformed())
        return e;
    return inside(std::move(e), path.substr(0, path.size() - found.key().size() - 1));
}

element array_view::operator[](std::size_t index) const noexcept
{
    for (const element& e : elements_) {
        if (e.malformed() || index-- == 0)
            return e;
    }
    return {};
}

std::size_t array_view::count() const noexcept
{
    std::size_t n = 0;
    for (const element& e : elements_)
        n += e ? 1 : 0;
    return n;
}

}  // namespace holdfast::bson
