#include "sample.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace holdfast::property {
namespace {

constexpr int max_sample_depth = 6;

sample_document make_fields(choices& c, int depth);

/// Pieces at the borders of what UTF-8 and JSON treat alike.
std::string make_text(choices& c, bool zero_bytes)
{
    static constexpr std::string_view pieces[] = {
        "a",          "B",          "0",      " ",
        "\"",         "\\",         "/",      "\b\f\n\r",
        "\t",         "\x01",       "\x1f",   "\x7f",
        "$",          ".",          "<>&",    "{\"$oid\":1}",
        "\xC2\x80",   "\xDF\xBF",   "\u00E9", "\u0800",
        "\u20AC",     "\uD7FF",     "\uE000", "\uFEFF",
        "\uFFFD",     "\uFFFF",     "\u2028", "\U00010000",
        "\U0001F41A", "\U0010FFFF",
    };
    std::string text;
    for (std::size_t left = c.below(8); left != 0; --left) {
        const std::size_t which = c.below(std::size(pieces) + 2);
        if (which < std::size(pieces))
            text += pieces[which];
        else if (which == std::size(pieces))
            text.append(zero_bytes ? 1 : 0, '\0');
        else
            text.append(c.below(600), 'x');
    }
    return text;
}

std::string make_key(choices& c)
{
    static constexpr std::string_view plain[] = {"a", "b", "", "_id", "0", "key", "a.b", "$x"};
    return c.one_in(4) ? make_text(c, false) : std::string{c.pick(plain)};
}

double make_double(choices& c)
{
    using limits = std::numeric_limits<double>;
    static constexpr double odd[] = {0.0,
                                     -0.0,
                                     1.0,
                                     -1.5,
                                     0.1,
                                     1e-7,
                                     123456789.125,
                                     1e15,
                                     1e16,
                                     1e21,
                                     1e22,
                                     9007199254740993.0,
                                     limits::max(),
                                     limits::min(),
                                     limits::denorm_min(),
                                     limits::epsilon(),
                                     limits::infinity(),
                                     -limits::infinity(),
                                     limits::quiet_NaN()};
    return c.one_in(2) ? std::bit_cast<double>(c.scattered()) : c.pick(odd);
}

/// NaNs of every payload and sign, quiet ones only: a signalling one may change when it is moved.
double make_nan(choices& c)
{
    return std::bit_cast<double>(0x7FF8000000000000 | (c.scattered() & 0x8007FFFFFFFFFFFF));
}

std::int64_t make_int64(choices& c)
{
    using limits = std::numeric_limits<std::int64_t>;
    static constexpr std::int64_t odd[] = {0,
                                           1,
                                           -1,
                                           2147483647,
                                           2147483648,
                                           -2147483648,
                                           -2147483649,
                                           9007199254740993,
                                           limits::max(),
                                           limits::min()};
    return c.one_in(2) ? static_cast<std::int64_t>(c.scattered()) : c.pick(odd);
}

/// Around the epoch, around the years 1 and 9999 where relaxed JSON changes its form, and anywhere.
bson::datetime make_datetime(choices& c)
{
    static constexpr std::int64_t odd[] = {0, 1, 999, 1000, 1356351330501, 951782400000, -1, -1000};
    static constexpr std::int64_t edges[] = {253402300799999, 253402300800000, -62135596800000,
                                             -62135596800001, -62167219200000, 4102444800000};
    const std::size_t kind = c.below(4);
    const std::int64_t ms = kind == 0   ? c.pick(odd)
                            : kind == 1 ? c.pick(edges)
                            : kind == 2 ? static_cast<std::int64_t>(c.scattered() % 253402300800000)
                                        : make_int64(c);
    return bson::datetime{std::chrono::milliseconds{ms}};
}

bson::decimal128 make_decimal(choices& c)
{
    // Exponents 0, 1, -1, -6, -7, the ends of the range, infinity and NaN.
    static constexpr std::uint64_t high[] = {
        0x3040000000000000, 0x3042000000000000, 0x303E000000000000, 0x3034000000000000,
        0x3032000000000000, 0x0000000000000000, 0x5FFE000000000000, 0x5FFE314DC6448D93,
        0x7800000000000000, 0x7C00000000000000};
    if (c.one_in(4))
        return {c.scattered(), c.scattered()};
    const std::uint64_t sign = c.one_in(2) ? bson::decimal128::sign_bit : 0;
    const std::uint64_t low = c.one_in(2) ? c.scattered() : c.byte();
    return {low, c.pick(high) | sign};
}

bson::object_id make_object_id(choices& c)
{
    bson::object_id id;
    for (std::uint8_t& byte : id.bytes)
        byte = static_cast<std::uint8_t>(c.used_up() ? 0 : c.byte());
    return id;
}

sample_binary make_binary(choices& c)
{
    static constexpr std::uint8_t subtypes[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0x80, 0xFF};
    sample_binary made{{}, bson::binary_subtype{c.pick(subtypes)}};
    made.bytes.resize(c.one_in(3) ? 16 : c.below(20));
    std::uint64_t bits = c.scattered();
    for (std::uint8_t& byte : made.bytes)
        byte = static_cast<std::uint8_t>(bits = bits * 6364136223846793005 + 1442695040888963407);
    return made;
}

/// The options that MongoDB knows, each once, in any order: libbson drops all others.
sample_regex make_regex(choices& c)
{
    sample_regex made{make_text(c, false), "xusmli"};
    std::erase_if(made.options, [&](char) { return c.one_in(2); });
    if (c.one_in(2))
        std::ranges::reverse(made.options);
    return made;
}

sample_array make_array(choices& c, int depth)
{
    sample_array made{make_fields(c, depth).fields};
    if (c.one_in(32))  // so many that keys get two and three digits
        made.items.resize(made.items.size() + 120, field{{}, std::int32_t{7}});
    return made;
}

sample_value make_value(choices& c, int depth)
{
    switch (c.below(24)) {
    case 0:
        return bson::null{};
    case 1:
        return static_cast<std::int32_t>(make_int64(c));
    case 2:
        return make_text(c, true);
    case 3:
        return make_double(c);
    case 4:
        return make_nan(c);
    case 5:
        return make_int64(c);
    case 6:
        return c.one_in(2);
    case 7:
        return make_datetime(c);
    case 8:
        return make_object_id(c);
    case 9:
        return make_binary(c);
    case 10:
        return make_regex(c);
    case 11:
        return make_decimal(c);
    case 12: {
        const std::uint64_t bits = c.scattered();
        return bson::timestamp{static_cast<std::uint32_t>(bits >> 32),
                               static_cast<std::uint32_t>(bits)};
    }
    case 13:
        return bson::undefined{};
    case 14:
        return bson::min_key{};
    case 15:
        return bson::max_key{};
    case 16:
        return sample_code{make_text(c, false)};
    case 17:
        return sample_symbol{make_text(c, true)};
    case 18:
        return sample_db_pointer{make_text(c, false), make_object_id(c)};
    case 19:
        return sample_code_with_scope{make_text(c, false), make_fields(c, depth + 1)};
    case 20:
    case 21:
        return make_array(c, depth + 1);
    default:
        return make_fields(c, depth + 1);
    }
}

sample_document make_fields(choices& c, int depth)
{
    sample_document made;
    while (!c.used_up() && made.fields.size() < 64) {
        if (depth > 0 && (depth > max_sample_depth || c.one_in(4)))
            break;
        std::string key = make_key(c);
        made.fields.push_back({std::move(key), make_value(c, depth)});
    }
    return made;
}

}  // namespace

sample_document make_document(choices& c)
{
    return make_fields(c, 0);
}

}  // namespace holdfast::property
