#include "holdfast/bson/json.hpp"

#include "check.hpp"
#include "differences.hpp"
#include "normal_form.hpp"
#include "sample_write.hpp"

namespace holdfast::property::json_test {
namespace {

using bson::json_mode;
using byte_string = std::vector<std::uint8_t>;

/// What a document holds that libbson's printer or parser is known to fail on.
struct trouble {
    bool keyless_in_array = false;  // code or DBPointer
    bool code_in_scope = false;
    bool late_date = false;  // in the year 10000 or later
};

void find_trouble(bson::view document, trouble& t, bool in_array, bool in_scope)
{
    constexpr bson::datetime year_10000{std::chrono::milliseconds{253402300800000}};
    for (const bson::element& e : document) {
        const bool scoped = e.type() == bson::type::code_with_scope;
        const bool code = scoped || e.type() == bson::type::code;
        t.keyless_in_array |= in_array && (code || e.type() == bson::type::db_pointer);
        t.code_in_scope |= in_scope && code;
        if (scoped)
            find_trouble(e.as_code_with_scope().value().scope, t, false, true);
        else if (e.type() == bson::type::document || e.type() == bson::type::array)
            find_trouble(e.as_document(), t, e.type() == bson::type::array, in_scope);
        else if (e.type() == bson::type::datetime)
            t.late_date |= e.as_datetime() >= year_10000;
    }
}

trouble trouble_in(bson::view document)
{
    trouble t;
    find_trouble(document, t, false, false);
    return t;
}

difference_table<trouble>& not_parsed()
{
    static difference_table<trouble> table{
        "texts that its parser is not asked about",
        {{"libbson takes the key of code and DBPointers in an array from memory that it never "
          "wrote",
          "Extended JSON specification: the keys of an array are its positions",
          [](const trouble& t) { return t.keyless_in_array; }},
         {"libbson takes code within a scope for a document with the key $code",
          "Extended JSON specification: code is code wherever it stands",
          [](const trouble& t) { return t.code_in_scope; }}}};
    return table;
}

difference_table<trouble>& not_printed()
{
    static difference_table<trouble> table{
        "documents that its relaxed printer is not asked about",
        {{"libbson prints years of five digits, which no parser accepts",
          "Extended JSON specification: relaxed dates end with the year 9999",
          [](const trouble& t) { return t.late_date; }}}};
    return table;
}

std::string print_with_libbson(bson::view document, json_mode mode)
{
    bson_t b;
    bson_init_static(&b, document.data(), document.size());
    std::size_t size = 0;
    char* const text = mode == json_mode::canonical ? bson_as_canonical_extended_json(&b, &size)
                                                    : bson_as_relaxed_extended_json(&b, &size);
    if (!text)
        throw std::runtime_error{"libbson does not print " + hex(document.bytes())};
    const std::string copy{text, size};
    bson_free(text);
    return copy;
}

/// Parses by both and fails if the results differ. Gives ours.
byte_string parse_with_both(const std::string& text)
{
    const auto ours = bson::from_json(text);
    if (ours && not_parsed().explains(trouble_in(*ours)))
        return normal_form(*ours);
    bson_error_t why{};
    const libbson_document theirs{
        bson_new_from_json(reinterpret_cast<const std::uint8_t*>(text.data()),
                           static_cast<ssize_t>(text.size()), &why)};
    const byte_string mine = ours ? normal_form(*ours) : byte_string{};
    const byte_string other = theirs ? normal_form(bson::view::trusted(bson_get_data(theirs.get())))
                                     : byte_string{};
    if (mine != other)
        RC_FAIL("ours " + (ours ? hex(mine) : ours.error().message()) + ", libbson's " +
                (theirs ? hex(other) : why.message) + " from " + text);
    return mine;
}

void same(const byte_string& found, const byte_string& expected, const std::string& text)
{
    if (found != expected)
        RC_FAIL(text + ": expected " + hex(expected) + ", found " + hex(found));
}

// The two properties share the number of documents, for each prints and parses them twice over.

TEST(json_property, canonical_json_is_read_equally_by_libbson)
{
    not_parsed();
    check(
        [] {
            const choice_bytes bytes = *any_choices();
            choices c{bytes};
            const bson::document written = write_with_ours(make_document(c));
            const byte_string expected = normal_form(written);
            const auto ours = bson::to_json(written, json_mode::canonical);
            RC_ASSERT(ours.has_value());
            same(parse_with_both(*ours), expected, "our text " + *ours);
            const std::string theirs = print_with_libbson(bson::view::trusted(expected.data()),
                                                          json_mode::canonical);
            same(parse_with_both(theirs), expected, "libbson's text " + theirs);
        },
        property_count() / 2);
}

TEST(json_property, relaxed_json_is_read_equally_by_libbson)
{
    not_parsed();
    check(
        [] {
            const choice_bytes bytes = *any_choices();
            choices c{bytes};
            const bson::document written = write_with_ours(make_document(c));
            const auto ours = bson::to_json(written, json_mode::relaxed);
            RC_ASSERT(ours.has_value());
            const byte_string meant = parse_with_both(*ours);
            if (not_printed().explains(trouble_in(written)))
                return;
            const byte_string normal = normal_form(written);
            const std::string theirs = print_with_libbson(bson::view::trusted(normal.data()),
                                                          json_mode::relaxed);
            same(meant, parse_with_both(theirs), *ours + " against " + theirs);
        },
        property_count() / 2);
}

}  // namespace
}  // namespace holdfast::property::json_test
