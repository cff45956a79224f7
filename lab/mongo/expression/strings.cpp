#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/expression/operators.hpp"
#include "lab/mongo/expression/text.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace holdfast::lab::computing {

namespace {

bool is_text(const bson::element& e)
{
    return e.type() == bson::type::string;
}

result<value> concatenated_texts(const arguments& of, scope&)
{
    std::string whole;
    for (std::size_t i = 0; i < of.size(); ++i) {
        if (is_nullish(of[i]))
            return null_value();
        if (!is_text(of[i]))
            return refuse(16702, "$concat only supports strings, not " + type_text(of[i]));
        whole += of[i].as_string();
        if (whole.size() > max_value_size)
            break;  // the caller sees the size and refuses
    }
    return value::of(whole);
}

char to_upper(char c)
{
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}
char to_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

result<value> upper_case(const arguments& of, scope&)
{
    auto text = coerce_to_text(of[0]);
    if (!text)
        return std::move(text).error();
    std::ranges::transform(*text, text->begin(), to_upper);
    return value::of(*text);
}

result<value> lower_case(const arguments& of, scope&)
{
    auto text = coerce_to_text(of[0]);
    if (!text)
        return std::move(text).error();
    std::ranges::transform(*text, text->begin(), to_lower);
    return value::of(*text);
}

result<value> compare_without_case(const arguments& of, scope&)
{
    auto a = coerce_to_text(of[0]);
    if (!a)
        return std::move(a).error();
    auto b = coerce_to_text(of[1]);
    if (!b)
        return std::move(b).error();
    std::ranges::transform(*a, a->begin(), to_upper);
    std::ranges::transform(*b, b->begin(), to_upper);
    const int order = a->compare(*b);
    return value::of(order < 0 ? -1 : order > 0 ? 1 : 0);
}

result<value> split(const arguments& of, scope&)
{
    if (is_nullish(of[0]) || is_nullish(of[1]))
        return null_value();
    for (std::size_t i = 0; i < 2; ++i) {
        if (!is_text(of[i]))
            return refuse(i == 0 ? 40085 : 40086,
                          "$split requires an expression that evaluates to a string as a " +
                              std::string{i == 0 ? "first" : "second"} +
                              " argument, found: " + type_text(of[i]));
    }
    const std::string_view separator = of[1].as_string();
    if (separator.empty())
        return refuse(40087, "$split requires a non-empty separator");
    std::string_view rest = of[0].as_string();
    bson::byte_buffer bytes;
    bson::array_builder out{bytes};
    for (;;) {
        const std::size_t at = rest.find(separator);
        out.add(rest.substr(0, at));
        if (at == std::string_view::npos)
            break;
        rest.remove_prefix(at + separator.size());
    }
    auto done = out.finish();
    if (!done)
        return std::move(done).error();
    return value{*done};
}

// ---- $trim ----

/// What MongoDB counts as white space: ASCII's, the zero byte, and the blanks of Unicode.
constexpr std::string_view white_space[] = {
    std::string_view{"\0", 1},
    " ",
    "\t",
    "\n",
    "\v",
    "\f",
    "\r",
    "\xC2\xA0",
    "\u1680",
    "\u2000",
    "\u2001",
    "\u2002",
    "\u2003",
    "\u2004",
    "\u2005",
    "\u2006",
    "\u2007",
    "\u2008",
    "\u2009",
    "\u200A",
};

std::vector<std::string_view> split_code_points(std::string_view text)
{
    std::vector<std::string_view> made;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = at + 1;
        while (end < text.size() && continues(text[end]))
            ++end;
        made.push_back(text.substr(at, end - at));
        at = end;
    }
    return made;
}

result<value> trimmed(const arguments& of, scope&)
{
    const std::string name{of.name};
    if (is_nullish(of[0]) || (of.given(1) && is_nullish(of[1])))
        return null_value();
    if (!is_text(of[0]))
        return refuse(50699, name + " requires its input to be a string, got " + to_text(of[0]) +
                                 " (of type " + type_text(of[0]) + ") instead.");
    if (of.given(1) && !is_text(of[1]))
        return refuse(50700, name + " requires 'chars' to be a string, got " + to_text(of[1]) +
                                 " (of type " + type_text(of[1]) + ") instead.");
    std::vector<std::string_view> off{std::begin(white_space), std::end(white_space)};
    if (of.given(1))
        off = split_code_points(of[1].as_string());
    std::string_view text = of[0].as_string();
    const auto match = [&](bool front) {
        for (const std::string_view c : off) {
            if (front ? text.starts_with(c) : text.ends_with(c))
                return c.size();
        }
        return std::size_t{0};
    };
    if (name != "$rtrim") {
        while (const std::size_t size = match(true))
            text.remove_prefix(size);
    }
    if (name != "$ltrim") {
        while (const std::size_t size = match(false))
            text.remove_suffix(size);
    }
    return value::of(text);
}

// ---- $replaceOne, $replaceAll ----

result<value> replaced(const arguments& of, scope& in)
{
    constexpr std::string_view names[] = {"input", "find", "replacement"};
    constexpr int codes[] = {51746, 51745, 51744};
    bool nothing = false;
    for (std::size_t i = 0; i < 3; ++i) {
        nothing = nothing || is_nullish(of[i]);
        if (!is_nullish(of[i]) && !is_text(of[i]))
            return refuse(codes[i], std::string{of.name} + " requires that '" +
                                        std::string{names[i]} +
                                        "' be a string, found: " + to_text(of[i]));
    }
    if (nothing)
        return null_value();
    const std::string_view text = of[0].as_string();
    const std::string_view wanted = of[1].as_string();
    const std::string_view by = of[2].as_string();
    const bool all = of.name == "$replaceAll";
    std::string made;
    std::size_t at = 0;
    for (std::size_t found = text.find(wanted); found != std::string_view::npos;
         found = text.find(wanted, at)) {
        made.append(text.substr(at, found - at)).append(by);
        at = found + wanted.size();
        if (wanted.empty()) {
            // The empty text is found before each code point, and at the end.
            const std::size_t from = at++;
            while (at < text.size() && continues(text[at]))
                ++at;
            made.append(text.substr(from, at - from));
        }
        if (auto paid = in.spend(made.size() > max_value_size ? made.size() : 0); !paid)
            return std::move(paid).error();
        if (!all || at > text.size())
            break;
    }
    if (at < text.size())
        made.append(text.substr(at));
    return value::of(made);
}

constexpr list_operator strings_table[] = {
    {"$concat", 0, list_operator::any, concatenated_texts},
    {"$toUpper", 1, 1, upper_case},
    {"$toLower", 1, 1, lower_case},
    {"$strcasecmp", 2, 2, compare_without_case},
    {"$split", 2, 2, split},
};

constexpr named_operator named_strings_table[] = {
    {"$trim", 50696, 50694, trimmed, {{{"input", 50695}, {"chars", 0}}}},
    {"$ltrim", 50696, 50694, trimmed, {{{"input", 50695}, {"chars", 0}}}},
    {"$rtrim", 50696, 50694, trimmed, {{{"input", 50695}, {"chars", 0}}}},
    {"$replaceOne",
     51751,
     51750,
     replaced,
     {{{"input", 51749}, {"find", 51748}, {"replacement", 51747}}}},
    {"$replaceAll",
     51751,
     51750,
     replaced,
     {{{"input", 51749}, {"find", 51748}, {"replacement", 51747}}}},
};

}  // namespace

std::span<const list_operator> string_operators()
{
    return strings_table;
}
std::span<const named_operator> string_operators_with_names()
{
    return named_strings_table;
}

}  // namespace holdfast::lab::computing
