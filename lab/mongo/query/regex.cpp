#include "lab/mongo/query/regex.hpp"

#include "lab/mongo/document/server_code.hpp"

#include <cstdint>
#include <string>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace holdfast::lab::filter {

namespace {

constexpr std::size_t longest_pattern = 32764;
constexpr std::uint32_t heap_kilobytes = 20 * 1024;
constexpr std::uint32_t least_steps = 1'000'000;

result<std::uint32_t> read_options(std::string_view options)
{
    // What is no UTF-8 matches nothing, instead of being an error in every query that meets it.
    std::uint32_t flags = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C;
    for (const char option : options) {
        if (option == 'i')
            flags |= PCRE2_CASELESS;
        else if (option == 'm')
            flags |= PCRE2_MULTILINE;
        else if (option == 's')
            flags |= PCRE2_DOTALL;
        else if (option == 'x')
            flags |= PCRE2_EXTENDED;
        else if (option != 'u')
            return refuse(51108, std::string{"invalid flag in regex options: "} + option);
    }
    return flags;
}

std::string reason_of(int code)
{
    PCRE2_UCHAR text[200];
    const int size = pcre2_get_error_message(code, text, sizeof text);
    return size < 0 ? "error " + std::to_string(code)
                    : std::string{reinterpret_cast<const char*>(text)};
}

}  // namespace

void regex::freed::operator()(pcre2_code* p) const noexcept
{
    pcre2_code_free(p);
}
void regex::freed::operator()(pcre2_match_data* p) const noexcept
{
    pcre2_match_data_free(p);
}
void regex::freed::operator()(pcre2_match_context* p) const noexcept
{
    pcre2_match_context_free(p);
}

result<regex> regex::compile(std::string_view pattern, std::string_view options)
{
    if (pattern.find('\0') != pattern.npos)
        return refuse(51091, "Regular expression cannot contain an embedded null byte");
    if (pattern.size() > longest_pattern)
        return refuse(51091, "Regular expression is invalid: pattern string is longer than " +
                                 std::to_string(longest_pattern) + " bytes");
    const auto flags = read_options(options);
    if (!flags)
        return flags.error();
    regex made;
    made.source_ = {pattern, options};
    int code = 0;
    std::size_t offset = 0;
    made.code_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                   *flags, &code, &offset, nullptr));
    if (made.code_ == nullptr)
        return refuse(51091, "Regular expression is invalid: " + reason_of(code));
    made.match_.reset(pcre2_match_data_create(1, nullptr));
    made.limits_.reset(pcre2_match_context_create(nullptr));
    if (made.match_ == nullptr || made.limits_ == nullptr)
        return refuse(server_code::internal_error, "no memory for a regular expression");
    pcre2_set_heap_limit(made.limits_.get(), heap_kilobytes);
    return made;
}

result<bool> regex::search(std::string_view text) const
{
    // Every place where a match may begin is a step, so that a long text needs many.
    const auto places = static_cast<std::uint32_t>(text.size() < (1U << 28) ? text.size()
                                                                            : 1U << 28);
    pcre2_set_match_limit(limits_.get(), least_steps + 4 * places);
    pcre2_set_depth_limit(limits_.get(), least_steps);
    const char* const begin = text.data() == nullptr ? "" : text.data();
    const int found = pcre2_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(begin), text.size(), 0,
                                  0, match_.get(), limits_.get());
    if (found >= 0)
        return true;
    if (found == PCRE2_ERROR_NOMATCH)
        return false;
    return refuse(51156, "Error occurred while executing regular expression: " + reason_of(found));
}

}  // namespace holdfast::lab::filter
