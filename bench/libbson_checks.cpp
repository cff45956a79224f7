// What the comparison itself needs of libbson; nothing here is measured.
#include "borrowed_document.hpp"
#include "task.hpp"

#include <bson/bson.h>

#include <stdexcept>

namespace holdfast::bench {

namespace {

/// Whether libbson calls the document valid although the key at `at` is broken.
bool overlooks(const input& in, std::size_t at)
{
    constexpr std::uint8_t never_utf8 = 0xFF;
    std::vector<std::uint8_t> broken = in.bytes;
    broken[at] = never_utf8;
    const borrowed_document document{broken};
    std::size_t offset;
    return bson_validate(document.get(), BSON_VALIDATE_UTF8, &offset);
}

}  // namespace

std::vector<std::uint8_t> parse_with_libbson(std::string_view json)
{
    bson_t document;
    bson_error_t why;
    if (!bson_init_from_json(&document, json.data(), static_cast<ssize_t>(json.size()), &why))
        throw std::runtime_error{why.message};
    const std::uint8_t* const bytes = bson_get_data(&document);
    std::vector<std::uint8_t> copy{bytes, bytes + document.len};
    bson_destroy(&document);
    return copy;
}

std::string print_with_libbson(const std::vector<std::uint8_t>& bytes)
{
    const borrowed_document document{bytes};
    char* const text = bson_as_canonical_extended_json(document.get(), nullptr);
    std::string copy{text};
    bson_free(text);
    return copy;
}

std::optional<std::size_t> first_unvalidated(const input& in)
{
    std::vector<std::size_t> keys;
    for (const bson::element& e : bson::view::parse(in.bytes).value()) {
        const auto* const key = reinterpret_cast<const std::uint8_t*>(e.key().data());
        keys.push_back(static_cast<std::size_t>(key - in.bytes.data()));
    }
    // Who has looked at the last element has looked at all, so most documents need one try.
    if (keys.empty() || !overlooks(in, keys.back()))
        return std::nullopt;
    for (const std::size_t key : keys) {
        if (overlooks(in, key))
            return key - 1;
    }
    return std::nullopt;
}

}  // namespace holdfast::bench
