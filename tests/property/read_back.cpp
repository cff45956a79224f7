#include "sample_write.hpp"

#include <algorithm>
#include <bit>

namespace holdfast::property {
namespace {

using bson::element;

/// The value as T, if the typed read gives one that is equal to `expected`.
template <class T>
bool reads_as(const element& e, const T& expected)
{
    const auto found = e.get<T>();
    return found && *found == expected;
}

struct reader {
    const element& found;

    bool operator()(const auto& plain) const { return reads_as(found, plain); }
    bool operator()(double v) const
    {
        const auto read = found.get<double>();
        return found.type() == bson::type::double_ && read &&
               std::bit_cast<std::uint64_t>(*read) == std::bit_cast<std::uint64_t>(v);
    }
    bool operator()(std::int32_t v) const
    {
        return found.type() == bson::type::int32 && reads_as(found, v) &&
               reads_as(found, std::int64_t{v}) && reads_as(found, double{static_cast<double>(v)});
    }
    bool operator()(std::int64_t v) const
    {
        const bool fits = std::in_range<std::int32_t>(v);
        return found.type() == bson::type::int64 && reads_as(found, v) &&
               found.get<std::int32_t>().has_value() == fits;
    }
    bool operator()(const sample_document& v) const
    {
        const auto nested = found.get<bson::view>();
        return nested && find_difference(*nested, v).empty();
    }
    bool operator()(const sample_array& v) const
    {
        const auto nested = found.get<bson::array_view>();
        if (!nested || nested->count() != v.items.size())
            return false;
        std::size_t index = 0;
        for (const element& item : *nested) {
            if (item.key() != std::to_string(index) ||
                !std::visit(reader{item}, v.items[index++].value))
                return false;
        }
        return true;
    }
    bool operator()(const sample_binary& v) const
    {
        return reads_as(found, bson::binary{v.bytes, v.subtype});
    }
    bool operator()(const sample_regex& v) const
    {
        std::string sorted = v.options;
        std::ranges::sort(sorted);
        return reads_as(found, bson::regex{v.pattern, sorted});
    }
    bool operator()(const sample_code& v) const { return reads_as(found, bson::code{v.source}); }
    bool operator()(const sample_symbol& v) const { return reads_as(found, bson::symbol{v.text}); }
    bool operator()(const sample_db_pointer& v) const
    {
        return reads_as(found, bson::db_pointer{v.collection, v.id});
    }
    bool operator()(const sample_code_with_scope& v) const
    {
        const auto read = found.get<bson::code_with_scope>();
        return read && read->source == v.source && find_difference(read->scope, v.scope).empty();
    }
};

}  // namespace

std::string find_difference(bson::view found, const sample_document& expected)
{
    std::size_t index = 0;
    for (const element& e : found) {
        if (index == expected.fields.size())
            return "there are more elements than were written";
        const field& wanted = expected.fields[index++];
        if (e.key() != wanted.key)
            return "another key than " + wanted.key;
        if (!std::visit(reader{e}, wanted.value))
            return "another value of the key " + wanted.key;
        const auto first = std::ranges::find(expected.fields, wanted.key, &field::key);
        if (first == expected.fields.begin() + static_cast<std::ptrdiff_t>(index - 1) &&
            found.find(wanted.key).bytes().data() != e.bytes().data())
            return "the look-up of a key gave another element: " + wanted.key;
    }
    return index == expected.fields.size() ? "" : "there are fewer elements than were written";
}

std::string hex(std::span<const std::uint8_t> bytes)
{
    static constexpr char digits[] = "0123456789ABCDEF";
    std::string text;
    for (const std::uint8_t byte : bytes) {
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

}  // namespace holdfast::property
