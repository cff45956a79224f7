#include "lab/mongo/document/collation.hpp"

#include "lab/mongo/document/number.hpp"
#include "lab/mongo/document/server_code.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::lab {

namespace {

/// What the levels of a comparison look at: the letter, its accents, its case.
struct letter {
    std::uint32_t base = 0;
    std::uint32_t accent = 0;
    bool upper = false;
};

// The Latin letters with accents, U+00C0 to U+017F: the letter, and the accent's place in the block
// of combining marks (U+0300 and on). A blank is a letter of its own kind.
constexpr std::string_view latin_letters =
    "AAAAAA CEEEEIIII NOOOOO OUUUUY  aaaaaa ceeeeiiii nooooo ouuuuy y"
    "AaAaAaCcCcCcCcDd  EeEeEeEeEeGgGgGgGgHh  IiIiIiIiI   JjKk LlLlLl "
    "   NnNnNn   OoOoOo  RrRrRrSsSsSsSsTtTt  UuUuUuUuUuUuWwYyYZzZzZz ";
constexpr std::string_view latin_accents =
    "`'^~:o ,`'^:`'^: ~`'^~: /`'^:'  `'^~:o ,`'^:`'^: ~`'^~: /`'^:' :"
    "--((;;''^^..vvvv  --((..;;vv^^((..,,^^  ~~--((;;.   ^^,, '',,vv "
    "   '',,vv   --((\"\"  '',,vv''^^,,vv,,vv  ~~--((oo\"\";;^^^^:''..vv ";
static_assert(latin_letters.size() == latin_accents.size());

constexpr std::uint32_t mark_of(char accent)
{
    constexpr std::string_view order = "`'^~-(.:o\"v,;/";
    constexpr std::array<std::uint32_t, 14> marks = {0x300, 0x301, 0x302, 0x303, 0x304,
                                                     0x306, 0x307, 0x308, 0x30A, 0x30B,
                                                     0x30C, 0x327, 0x328, 0x338};
    const std::size_t at = order.find(accent);
    return at == order.npos ? 0 : marks[at];
}

bool is_mark(std::uint32_t point)
{
    return point >= 0x300 && point <= 0x36F;
}

letter plain_letter(std::uint32_t point)
{
    if (point >= 'A' && point <= 'Z')
        return {point + 32, 0, true};
    if ((point >= 0xC0 && point <= 0xDE) || (point >= 0x391 && point <= 0x3A9) ||
        (point >= 0x410 && point <= 0x42F))
        return {point + 32, 0, true};
    if (point >= 0x400 && point <= 0x40F)
        return {point + 80, 0, true};
    if (point >= 0x100 && point <= 0x17F && point != 0x138 && point != 0x149 && point < 0x178) {
        const bool odd_is_upper = point >= 0x139 && point <= 0x148;
        const bool upper = (point % 2 == 1) == odd_is_upper;
        return {upper ? point + 1 : point, 0, upper};
    }
    return {point, 0, false};
}

letter letter_of(std::uint32_t point)
{
    const std::size_t at = point - 0xC0;
    if (point >= 0xC0 && at < latin_letters.size() && latin_letters[at] != ' ') {
        letter found = plain_letter(static_cast<unsigned char>(latin_letters[at]));
        found.accent = mark_of(latin_accents[at]);
        return found;
    }
    return plain_letter(point);
}

/// The code points of a text; a byte that is no UTF-8 stands for itself, far behind all others.
class points {
public:
    explicit points(std::string_view text) : rest_{text} {}

    bool done() const { return rest_.empty(); }
    std::uint32_t peek() const { return decode().point; }
    std::uint32_t next()
    {
        const decoded one = decode();
        rest_.remove_prefix(one.size);
        return one.point;
    }
    std::string_view take_digits()
    {
        const std::size_t end = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
        const std::string_view digits = rest_.substr(0, end);
        rest_.remove_prefix(end);
        return digits;
    }

private:
    struct decoded {
        std::uint32_t point;
        std::size_t size;
    };
    decoded decode() const
    {
        const auto first = static_cast<unsigned char>(rest_[0]);
        const std::size_t size = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
        if (size == 1)
            return {first, 1};
        std::uint32_t point = first & (0x7FU >> size);
        for (std::size_t i = 1; i < size; ++i) {
            if (i >= rest_.size() || (static_cast<unsigned char>(rest_[i]) & 0xC0) != 0x80)
                return {0x110000U + first, 1};
            point = point << 6 | (static_cast<unsigned char>(rest_[i]) & 0x3FU);
        }
        return {point, size};
    }

    std::string_view rest_;
};

bool is_digit(std::uint32_t point)
{
    return point >= '0' && point <= '9';
}

/// Signs and blanks come before digits, digits before letters.
int group_of(std::uint32_t base)
{
    if (is_digit(base))
        return 1;
    return base >= 0x80 || (base >= 'a' && base <= 'z') ? 2 : 0;
}

std::string_view significant(std::string_view digits)
{
    digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
    return digits;
}

std::weak_ordering compare_digits(std::string_view a, std::string_view b)
{
    a = significant(a);
    b = significant(b);
    if (a.size() != b.size())
        return a.size() <=> b.size();
    return a.compare(b) <=> 0;
}

letter take_letter(points& from)
{
    letter taken = letter_of(from.next());
    for (; !from.done() && is_mark(from.peek()); from.next())
        taken.accent = taken.accent * 0x100 + from.peek();
    return taken;
}

/// One level of a sort key below the first: letters that are as usual are counted, all others are
/// written out.
class key_level {
public:
    explicit key_level(std::string& to) : to_{to} { to_ += '\x01'; }

    void add(std::uint32_t weight)
    {
        if (weight == 0) {
            ++usual_;
            return;
        }
        if (usual_ > 0)
            end(most_usual, -1);
        to_ += '\x46';
        for (int shift = 24; shift >= 0; shift -= 8)
            to_ += static_cast<char>(weight >> shift & 0xFF);
    }
    void finish() { end(least_usual, 1); }

private:
    static constexpr std::size_t counted_at_once = 0x21;
    static constexpr int least_usual = 0x05;
    static constexpr int most_usual = 0x45;

    void end(int from, int direction)
    {
        for (; usual_ > 0; usual_ -= std::min(usual_, counted_at_once)) {
            const auto count = static_cast<int>(std::min(usual_, counted_at_once));
            to_ += static_cast<char>(from + direction * (count - 1));
        }
    }

    std::string& to_;
    std::size_t usual_ = 0;
};

void add_base(std::string& to, std::uint32_t base)
{
    if (base >= 'a' && base <= 'z') {
        to += static_cast<char>(0x29 + 2 * (base - 'a'));
        return;
    }
    if (is_digit(base)) {
        to += static_cast<char>(0x14 + 2 * (base - '0'));
        return;
    }
    to += group_of(base) == 0 ? '\x03' : '\x5F';
    for (int shift = 16; shift >= 0; shift -= 8)
        to += static_cast<char>(base >> shift & 0xFF);
}

void keep_first(std::weak_ordering& kept, std::weak_ordering found)
{
    if (kept == 0)
        kept = found;
}

result<void> check_strength(const bson::element& e, collation& out)
{
    const auto strength = whole_number(e);
    if (!strength)
        return refuse(server_code::type_mismatch,
                      "BSON field 'collation.strength' is the wrong type, expected a whole number");
    if (*strength < 1 || *strength > 5)
        return refuse(server_code::bad_value,
                      "Enumeration value '" + std::to_string(*strength) +
                          "' for field 'collation.strength' is not a valid value.");
    out.strength = static_cast<int>(std::min<std::int64_t>(*strength, 3));
    return {};
}

result<void> check_flag(const bson::element& e, bool& out)
{
    if (e.type() != bson::type::boolean)
        return refuse(server_code::type_mismatch, "BSON field 'collation." + std::string{e.key()} +
                                                      "' is the wrong type, expected type 'bool'");
    out = e.as_bool();
    return {};
}

/// A language of two or three letters, and what may follow it.
bool is_locale(std::string_view name)
{
    const std::size_t end = std::min(name.find_first_of("_-@"), name.size());
    return (end == 2 || end == 3) && name.size() <= 100 &&
           std::ranges::all_of(name.substr(0, end), [](char c) { return c >= 'a' && c <= 'z'; });
}

result<void> check_field(const bson::element& e, collation& out, std::string_view& locale)
{
    constexpr std::array known_texts = {"caseFirst", "alternate", "maxVariable", "version"};
    bool ignored = false;
    if (e.key() == "locale") {
        if (e.type() != bson::type::string)
            return refuse(server_code::type_mismatch,
                          "BSON field 'collation.locale' is the wrong type, expected type "
                          "'string'");
        locale = e.as_string();
        return {};
    }
    if (e.key() == "strength")
        return check_strength(e, out);
    if (e.key() == "caseLevel")
        return check_flag(e, out.case_level);
    if (e.key() == "numericOrdering")
        return check_flag(e, out.numeric_ordering);
    if (e.key() == "backwards" || e.key() == "normalization")
        return check_flag(e, ignored);
    if (std::ranges::find(known_texts, e.key()) != known_texts.end())
        return {};
    return refuse(server_code::unknown_field,
                  "BSON field 'collation." + std::string{e.key()} + "' is an unknown field.");
}

}  // namespace

std::weak_ordering collation::compare(std::string_view a, std::string_view b) const
{
    points left{a};
    points right{b};
    auto accents = std::weak_ordering::equivalent;
    auto cases = std::weak_ordering::equivalent;
    while (!left.done() && !right.done()) {
        if (numeric_ordering && is_digit(left.peek()) && is_digit(right.peek())) {
            if (const auto order = compare_digits(left.take_digits(), right.take_digits());
                order != 0)
                return order;
            continue;
        }
        const letter x = take_letter(left);
        const letter y = take_letter(right);
        if (x.base != y.base) {
            const int x_group = group_of(x.base);
            const int y_group = group_of(y.base);
            return x_group != y_group ? x_group <=> y_group : x.base <=> y.base;
        }
        keep_first(accents, x.accent <=> y.accent);
        keep_first(cases, x.upper <=> y.upper);
    }
    if (left.done() != right.done())
        return right.done() <=> left.done();
    if (strength >= 2 && accents != 0)
        return accents;
    return strength >= 3 || case_level ? cases : std::weak_ordering::equivalent;
}

std::string collation::sort_key(std::string_view text) const
{
    std::string key;
    std::vector<letter> letters;
    for (points from{text}; !from.done();) {
        if (numeric_ordering && is_digit(from.peek())) {
            const std::string_view number = significant(from.take_digits());
            key.append(1, '\x14').append(std::to_string(number.size())).append(1, ':');
            key.append(number);
            letters.push_back({});
            continue;
        }
        letters.push_back(take_letter(from));
        add_base(key, letters.back().base);
    }
    if (strength >= 2) {
        key_level accents{key};
        for (const letter& one : letters)
            accents.add(one.accent);
        accents.finish();
    }
    if (strength >= 3 || case_level) {
        key_level cases{key};
        for (const letter& one : letters)
            cases.add(one.upper ? 1 : 0);
        cases.finish();
    }
    return key;
}

result<std::optional<collation>> read_collation(const bson::element& from)
{
    if (!from && !from.malformed())
        return std::optional<collation>{};
    if (from.type() != bson::type::document)
        return refuse(server_code::type_mismatch, "BSON field 'collation' is the wrong type '" +
                                                      std::string{bson::name_of(from.type())} +
                                                      "', expected type 'object'");
    if (from.as_document().empty())
        return std::optional<collation>{};
    collation made;
    std::string_view locale;
    for (const bson::element& e : from.as_document()) {
        if (e.malformed())
            return refuse(22, "malformed collation");
        if (auto checked = check_field(e, made, locale); !checked)
            return std::move(checked).error();
    }
    if (locale.empty())
        return refuse(server_code::missing_field,
                      "BSON field 'collation.locale' is missing but a required field");
    if (locale == "simple")
        return std::optional<collation>{};
    if (!is_locale(locale))
        return refuse(server_code::bad_value,
                      "Field 'locale' is invalid in: { locale: \"" + std::string{locale} + "\" }");
    return std::optional{made};
}

}  // namespace holdfast::lab
