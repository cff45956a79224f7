#pragma once
#include "core/bson/json_scan.hpp"
#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/bson/types.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::bson {

/// The keys that make an object a type wrapper of Extended JSON instead of a document.
enum class json_wrapper : std::uint8_t {
    none,
    binary,
    code,
    date,
    db_pointer,
    max_key,
    min_key,
    number_decimal,
    number_double,
    number_int,
    number_long,
    object_id,
    regular_expression,
    scope,
    symbol,
    timestamp,
    undefined,
    uuid,
    // These three are query operators as well: they make a wrapper only in their legacy form.
    legacy_options,
    legacy_regex,
    legacy_type,
};

/// Which wrapper a key that begins with '$' belongs to.
json_wrapper wrapper_of(std::string_view key) noexcept;

/// Whether an object with such a key can be nothing but a wrapper.
constexpr bool is_only_wrapper(json_wrapper which) noexcept
{
    return which > json_wrapper::none && which < json_wrapper::legacy_options;
}

/// Writes what a JSON text says straight into a buffer, as BSON. The type byte of an element is
/// written when its value is known. Functions give false after an error, as the scanner does.
class json_parser {
public:
    json_parser(std::string_view text, byte_buffer& out) noexcept
        : in_{text}, out_{out}, start_{out.size()}
    {
    }

    /// The whole text is one object, or one array. After an error the buffer is as it was.
    result<void> parse_document();
    result<void> parse_array();

private:
    /// A string inside a wrapper, with the place where it begins.
    struct wrapped {
        std::string_view text;
        const char* at = nullptr;
        std::string scratch;
    };

    // json_parse.cpp: plain JSON. `type_at` is where the type byte of the element lies; `depth` is
    // that of the document around a value, and 1 for the outermost one.
    result<void> finish(bool good);
    bool value(std::size_t type_at, int depth);
    bool text_value(std::size_t type_at);
    bool number_value(std::size_t type_at);
    bool object(std::size_t type_at, int depth);
    bool document_body(int depth);
    bool empty_document(int depth);
    bool members(std::string_view first_key, int depth);
    bool array_body(int depth);
    bool read_key(std::string_view& key);
    bool read_member_key(std::string_view& key, int depth);
    bool colon_after(std::string_view key) { return in_.take(':') || missing_colon(key); }
    bool missing_colon(std::string_view key);
    bool start_document(int depth);
    void end_document(std::size_t start);
    std::size_t start_element(std::string_view key)
    {
        const std::size_t type_at = out_.size();
        std::uint8_t* const to = out_.grow(key.size() + 2);
        *layout::store_bytes(to + 1, key.data(), key.size()) = 0;
        return type_at;
    }

    // json_wrapper.cpp: objects that stand for one value. The first key and its colon have been
    // read; `body` is where the first key is, for those that must read it once more.
    bool wrapper(json_wrapper which, std::size_t type_at, const char* body, int depth);
    bool is_legacy_pair(json_wrapper which) const noexcept;
    bool symbol_value(std::size_t type_at);
    bool object_id_value(std::size_t type_at);
    bool int_value(std::size_t type_at);
    bool long_value(type t, std::size_t type_at);
    bool double_value(std::size_t type_at);
    bool decimal_value(std::size_t type_at);
    bool uuid_value(std::size_t type_at);
    bool date_value(std::size_t type_at);
    bool key_value(type t, std::string_view name, std::size_t type_at);
    bool undefined_value(std::size_t type_at);
    bool only_key(std::string_view of, std::string_view expected);
    bool wrapped_text(std::string_view of, wrapped& read);
    bool wrong(std::string_view of, std::string_view expected, const wrapped& found);
    bool read_object_id(std::uint8_t* to);
    bool close(std::string_view of);

    // json_wrapper_pair.cpp: those with two fields, which may come in any order.
    bool binary_value(std::size_t type_at, const char* body);
    bool legacy_binary(std::size_t type_at, const char* body);
    bool put_binary(std::size_t type_at, const wrapped& base64, const wrapped& subtype);
    bool regex_value(std::size_t type_at);
    bool legacy_regex(std::size_t type_at, const char* body);
    bool put_regex(std::size_t type_at, const wrapped& pattern, const wrapped& options);
    bool timestamp_value(std::size_t type_at);
    bool timestamp_part(std::string_view name, std::uint32_t& part);
    bool db_pointer_value(std::size_t type_at);
    bool code_value(std::size_t type_at, int depth);
    bool scope_value(std::size_t type_at, int depth);
    bool open(std::string_view of);
    template <class First, class Second>
    bool two_fields(std::string_view of, std::string_view first, First read_first,
                    std::string_view second, Second read_second);

    std::uint8_t* start_value(type t, std::size_t type_at, std::size_t size)
    {
        out_.data()[type_at] = static_cast<std::uint8_t>(t);
        return out_.grow(size);
    }
    void put_text(type t, std::size_t type_at, std::string_view text)
    {
        std::uint8_t* to = start_value(t, type_at, text.size() + 5);
        to = layout::store(to, static_cast<std::int32_t>(text.size() + 1));
        *layout::store_bytes(to, text.data(), text.size()) = 0;
    }

    json_scanner in_;
    byte_buffer& out_;
    std::size_t start_;
    std::string scratch_;  // the key or text at hand, if it has escapes
};

}  // namespace holdfast::bson
