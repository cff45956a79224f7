#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/expression/operators.hpp"
#include "lab/mongo/expression/text.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace holdfast::lab::computing {

namespace {

constexpr std::size_t max_pattern = 32'764;
constexpr std::uint32_t match_limit = 1'000'000;
constexpr std::uint32_t heap_limit_kb = 20'000;
constexpr std::size_t max_matches = 100'000;

template <auto Free>
struct freed {
    void operator()(auto* p) const noexcept { Free(p); }
};
using code_ptr = std::unique_ptr<pcre2_code, freed<pcre2_code_free>>;
using context_ptr = std::unique_ptr<pcre2_match_context, freed<pcre2_match_context_free>>;
using data_ptr = std::unique_ptr<pcre2_match_data, freed<pcre2_match_data_free>>;

struct pattern_text {
    std::string pattern;
    std::string options;
};

struct found_match {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::vector<std::optional<std::string>> captures = {};
};

/// A regular expression that gives up instead of running forever.
class searcher {
public:
    static result<searcher> compile(const pattern_text& from, std::string_view op);

    /// The first match at or after `start`; nothing if there is none.
    result<std::optional<found_match>> find(std::string_view in, std::size_t start,
                                            std::string_view op) const;

private:
    searcher(code_ptr code, context_ptr context, data_ptr data)
        : code_{std::move(code)}, context_{std::move(context)}, data_{std::move(data)}
    {
    }
    code_ptr code_;
    context_ptr context_;
    data_ptr data_;
};

result<std::uint32_t> read_options(std::string_view letters, std::string_view op)
{
    std::uint32_t options = PCRE2_UTF;
    for (const char c : letters) {
        if (c == 'i')
            options |= PCRE2_CASELESS;
        else if (c == 'm')
            options |= PCRE2_MULTILINE;
        else if (c == 's')
            options |= PCRE2_DOTALL;
        else if (c == 'x')
            options |= PCRE2_EXTENDED;
        else if (c != 'u')
            return refuse(51108, std::string{op} +
                                     " invalid flag in regex options: " + std::string{letters});
    }
    return options;
}

result<searcher> searcher::compile(const pattern_text& from, std::string_view op)
{
    const auto options = read_options(from.options, op);
    if (!options)
        return options.error();
    if (from.pattern.find('\0') != std::string::npos)
        return refuse(51109, std::string{op} +
                                 ": regular expression cannot contain an embedded null byte");
    if (from.pattern.size() > max_pattern)
        return refuse(51111,
                      "Invalid Regex in " + std::string{op} + ": regular expression is too large");
    int fault = 0;
    PCRE2_SIZE where = 0;
    code_ptr code{pcre2_compile(reinterpret_cast<PCRE2_SPTR>(from.pattern.data()),
                                from.pattern.size(), *options, &fault, &where, nullptr)};
    if (!code) {
        PCRE2_UCHAR text[160] = {};
        pcre2_get_error_message(fault, text, sizeof text);
        return refuse(51111, "Invalid Regex in " + std::string{op} + ": " +
                                 std::string{reinterpret_cast<const char*>(text)});
    }
    context_ptr context{pcre2_match_context_create(nullptr)};
    data_ptr data{pcre2_match_data_create_from_pattern(code.get(), nullptr)};
    if (!context || !data)
        return refuse(server_code::internal_error, "no memory for a regular expression");
    pcre2_set_match_limit(context.get(), match_limit);
    pcre2_set_depth_limit(context.get(), match_limit);
    pcre2_set_heap_limit(context.get(), heap_limit_kb);
    return searcher{std::move(code), std::move(context), std::move(data)};
}

result<std::optional<found_match>> searcher::find(std::string_view in, std::size_t start,
                                                  std::string_view op) const
{
    const int count = pcre2_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(in.data()), in.size(),
                                  start, 0, data_.get(), context_.get());
    if (count == PCRE2_ERROR_NOMATCH)
        return std::optional<found_match>{};
    if (count < 0)
        return refuse(51156, "Error occurred while executing the regular expression in " +
                                 std::string{op} + ". Result code: " + std::to_string(count));
    const PCRE2_SIZE* const at = pcre2_get_ovector_pointer(data_.get());
    const std::uint32_t pairs = pcre2_get_ovector_count(data_.get());
    if (at[0] > at[1])
        return std::optional<found_match>{};  // \K can end a match before its start
    found_match made{at[0], at[1]};
    for (std::uint32_t i = 1; i < pairs; ++i) {
        const PCRE2_SIZE from = at[2 * i];
        if (from == PCRE2_UNSET || from > at[2 * i + 1])
            made.captures.emplace_back();
        else
            made.captures.emplace_back(std::string{in.substr(from, at[2 * i + 1] - from)});
    }
    return std::optional{std::move(made)};
}

/// The pattern and its options, which may be part of it or an argument of their own; nothing if one
/// of them is null.
result<std::optional<pattern_text>> read_pattern(const arguments& of)
{
    const std::string name{of.name};
    const bson::element regex = of[1];
    const bson::element options = of[2];
    if (!is_nullish(of[0]) && of[0].type() != bson::type::string)
        return refuse(51104, name + " needs 'input' to be of type string");
    if (!is_nullish(regex) && regex.type() != bson::type::string &&
        regex.type() != bson::type::regex)
        return refuse(51105, name + " needs 'regex' to be of type string or regex");
    if (!is_nullish(options) && options.type() != bson::type::string)
        return refuse(51106, name + " needs 'options' to be of type string");
    if (is_nullish(of[0]) || is_nullish(regex))
        return std::optional<pattern_text>{};
    pattern_text made;
    if (regex.type() == bson::type::regex) {
        made.pattern = regex.as_regex().pattern;
        made.options = regex.as_regex().options;
    } else {
        made.pattern = regex.as_string();
    }
    if (!is_nullish(options)) {
        if (!made.options.empty())
            return refuse(51107,
                          name +
                              ": found regex options specified in both 'regex' and 'options' "
                              "fields");
        made.options = options.as_string();
    }
    return std::optional{std::move(made)};
}

void write_match(bson::builder& out, const found_match& match, std::string_view text,
                 std::size_t index)
{
    out.put("match", text.substr(match.begin, match.end - match.begin));
    out.put("idx", static_cast<std::int32_t>(index));
    auto captures = out.array("captures");
    for (const auto& c : match.captures) {
        if (c)
            captures.add(*c);
        else
            captures.add(bson::null{});
    }
}

result<value> first_match(const searcher& search, std::string_view text, std::string_view op)
{
    auto found = search.find(text, 0, op);
    if (!found)
        return std::move(found).error();
    if (op == "$regexMatch")
        return value::of(found->has_value());
    if (!*found)
        return null_value();
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    write_match(out, **found, text, code_points(text.substr(0, (*found)->begin)));
    auto done = out.finish();
    if (!done)
        return std::move(done).error();
    return value{*done};
}

result<value> all_matches(const searcher& search, std::string_view text, std::string_view op,
                          scope& in)
{
    bson::byte_buffer bytes;
    bson::array_builder out{bytes};
    std::size_t start = 0;
    std::size_t counted = 0;  // bytes before this are in `index`
    std::size_t index = 0;
    for (std::size_t i = 0; i < max_matches && start <= text.size(); ++i) {
        auto found = search.find(text, start, op);
        if (!found)
            return std::move(found).error();
        if (!*found || (*found)->begin < counted)
            break;
        const found_match& match = **found;
        index += code_points(text.substr(counted, match.begin - counted));
        counted = match.begin;
        auto one = out.document();
        write_match(one, match, text, index);
        start = match.end;
        // After an empty match the search goes on behind the next code point.
        if (match.begin == match.end) {
            ++start;
            while (start < text.size() && continues(text[start]))
                ++start;
        }
        if (auto paid = in.spend(bytes.size() > max_value_size ? bytes.size() : 0); !paid)
            return std::move(paid).error();
    }
    auto done = out.finish();
    if (!done)
        return std::move(done).error();
    return value{*done};
}

result<value> run_regex(const arguments& of, scope& in)
{
    const auto pattern = read_pattern(of);
    if (!pattern)
        return pattern.error();
    if (!*pattern)
        return of.name == "$regexMatch"     ? value::of(false)
               : of.name == "$regexFindAll" ? value{bson::array_view{}}
                                            : null_value();
    const auto search = searcher::compile(**pattern, of.name);
    if (!search)
        return search.error();
    if (of.name == "$regexFindAll")
        return all_matches(*search, of[0].as_string(), of.name, in);
    return first_match(*search, of[0].as_string(), of.name);
}

constexpr named_operator regex_table[] = {
    {"$regexMatch",
     51103,
     31024,
     run_regex,
     {{{"input", 31022}, {"regex", 31023}, {"options", 0}}}},
    {"$regexFind", 51103, 31024, run_regex, {{{"input", 31022}, {"regex", 31023}, {"options", 0}}}},
    {"$regexFindAll",
     51103,
     31024,
     run_regex,
     {{{"input", 31022}, {"regex", 31023}, {"options", 0}}}},
};

}  // namespace

std::span<const named_operator> regex_operators()
{
    return regex_table;
}

}  // namespace holdfast::lab::computing
