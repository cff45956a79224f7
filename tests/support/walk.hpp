#pragma once
#include "holdfast/bson/document.hpp"

#include <cstddef>
#include <cstdint>

namespace holdfast::proof {

struct walked {
    std::size_t values = 0;
    std::size_t errors = 0;       // typed reads that failed
    std::uint64_t checksum = 0;   // of all bytes that were read, so that each one is touched
    std::size_t dollar_keys = 0;  // which Extended JSON may take for its own
    std::size_t unordered = 0;  // array keys that are not the next number, regex options unsorted
};

/// Reads every value of a document, whatever bytes it is made of, by the accessor of its type. Does
/// not go deeper than the library itself.
inline walked walk(bson::view document);

class walker {
public:
    walked seen;

    void document(bson::view v, int depth, bool is_array = false)
    {
        bson::array_index index;
        for (const bson::element& e : v) {
            ++seen.values;
            text(e.key());
            seen.dollar_keys += e.key().starts_with('$');
            seen.unordered += is_array && e.key() != index.next();
            value(e, depth);
        }
    }

private:
    void value(const bson::element& e, int depth);
    void value_with_parts(const bson::element& e, int depth);

    void text(std::string_view t)
    {
        for (const char c : t)
            seen.checksum = seen.checksum * 31 + static_cast<unsigned char>(c);
    }
    template <class T, class Use>
    void read(const bson::element& e, Use use)
    {
        const auto got = e.get<T>();
        if (got)
            use(*got);
        else
            ++seen.errors;
    }
    template <class T>
    void plain(const bson::element& e)
    {
        read<T>(e, [&](const T&) { ++seen.checksum; });
    }
    void nested(bson::view v, int depth, bool is_array = false)
    {
        if (depth < bson::max_depth)
            document(v, depth + 1, is_array);
        else
            ++seen.errors;
    }
};

inline void walker::value(const bson::element& e, int depth)
{
    switch (e.type()) {
    case bson::type::invalid:
        plain<std::int32_t>(e);
        break;  // must be an error
    case bson::type::double_:
        plain<double>(e);
        break;
    case bson::type::undefined:
        plain<bson::undefined>(e);
        break;
    case bson::type::object_id:
        plain<bson::object_id>(e);
        break;
    case bson::type::boolean:
        plain<bool>(e);
        break;
    case bson::type::datetime:
        plain<bson::datetime>(e);
        break;
    case bson::type::null:
        plain<bson::null>(e);
        break;
    case bson::type::int32:
        plain<std::int32_t>(e);
        break;
    case bson::type::timestamp:
        plain<bson::timestamp>(e);
        break;
    case bson::type::int64:
        plain<std::int64_t>(e);
        break;
    case bson::type::decimal128:
        plain<bson::decimal128>(e);
        break;
    case bson::type::max_key:
        plain<bson::max_key>(e);
        break;
    case bson::type::min_key:
        plain<bson::min_key>(e);
        break;
    case bson::type::string:
    case bson::type::code:
    case bson::type::symbol:
    case bson::type::document:
    case bson::type::array:
    case bson::type::binary:
    case bson::type::regex:
    case bson::type::db_pointer:
    case bson::type::code_with_scope:
        value_with_parts(e, depth);
        break;
    }
}

inline void walker::value_with_parts(const bson::element& e, int depth)
{
    switch (e.type()) {
    case bson::type::string:
        read<std::string_view>(e, [&](std::string_view s) { text(s); });
        break;
    case bson::type::code:
        read<bson::code>(e, [&](bson::code c) { text(c.source); });
        break;
    case bson::type::symbol:
        read<bson::symbol>(e, [&](bson::symbol s) { text(s.text); });
        break;
    case bson::type::document:
        read<bson::view>(e, [&](bson::view v) { nested(v, depth); });
        break;
    case bson::type::array:
        read<bson::array_view>(e,
                               [&](bson::array_view a) { nested(a.as_document(), depth, true); });
        break;
    case bson::type::binary:
        read<bson::binary>(e, [&](const bson::binary& b) {
            for (const std::uint8_t byte : b.bytes)
                seen.checksum = seen.checksum * 31 + byte;
        });
        break;
    case bson::type::regex:
        read<bson::regex>(e, [&](const bson::regex& r) {
            text(r.pattern);
            text(r.options);
            seen.unordered += !std::ranges::is_sorted(r.options);
        });
        break;
    case bson::type::db_pointer:
        read<bson::db_pointer>(e, [&](const bson::db_pointer& p) { text(p.collection); });
        break;
    case bson::type::code_with_scope:
        read<bson::code_with_scope>(e, [&](const bson::code_with_scope& c) {
            text(c.source);
            nested(c.scope, depth);
        });
        break;
    default:
        break;
    }
}

inline walked walk(bson::view document)
{
    walker w;
    w.document(document, 1);
    return w.seen;
}

}  // namespace holdfast::proof
