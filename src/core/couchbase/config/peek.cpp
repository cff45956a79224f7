#include "core/couchbase/config/revision.hpp"

#include <algorithm>
#include <charconv>

namespace holdfast::core::couchbase {

namespace {

constexpr std::size_t window = 256;

struct seen_revision {
    std::optional<std::int64_t> rev = {};
    std::optional<std::int64_t> epoch = {};

    bool complete() const noexcept { return rev && epoch; }
    std::optional<std::int64_t>* place_of(std::string_view key) noexcept
    {
        return key == "rev" ? &rev : key == "revEpoch" ? &epoch : nullptr;
    }
};

constexpr bool is_blank(char c) noexcept
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/// The first of the characters for which `stops` holds, or npos. The window is short, and calls of
/// the library's searches for each of its characters would cost more than all the rest.
template <class Stops>
std::size_t find_stop(std::string_view text, Stops stops) noexcept
{
    for (std::size_t at = 0; at < text.size(); ++at)
        if (stops(text[at]))
            return at;
    return text.npos;
}
template <class Stops>
std::size_t find_last_stop(std::string_view text, Stops stops) noexcept
{
    for (std::size_t at = text.size(); at > 0; --at)
        if (stops(text[at - 1]))
            return at - 1;
    return text.npos;
}

constexpr bool is_quote_or_escape(char c) noexcept
{
    return c == '"' || c == '\\';
}
/// What can stand beside a number or a literal, and what no scalar has in it.
constexpr bool ends_scalar(char c) noexcept
{
    return c <= ',' || c == ':' || c == '[' || c == ']' || c == '{' || c == '}';
}

/// A number of JSON that is whole, not negative and fits; nothing for any other text.
std::optional<std::int64_t> whole_number(std::string_view text) noexcept
{
    std::int64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped, failed] = std::from_chars(text.data(), end, number);
    const bool leads_with_zero = text.size() > 1 && text.front() == '0';
    if (failed != std::errc{} || stopped != end || number < 0 || leads_with_zero)
        return std::nullopt;
    return number;
}

/// Walks over the first members of the object, as long as they are no containers.
class front_walk {
public:
    explicit front_walk(std::string_view text) noexcept : left_{text.substr(0, window)} {}

    /// Looks at one more member; false if there is none that can be looked at.
    bool next(seen_revision& seen) noexcept
    {
        const bool begins = take(is_inside_ ? ',' : '{');
        is_inside_ = true;
        const auto key = begins ? take_string() : std::nullopt;
        const bool has_value = key && take(':');
        skip_blanks();
        const std::string_view value = has_value ? take_scalar() : std::string_view{};
        if (value.empty()) {
            left_ = {};
            return false;
        }
        if (auto* const place = seen.place_of(*key); place && !*place)
            *place = whole_number(value);
        return true;
    }

private:
    void skip_blanks() noexcept
    {
        while (!left_.empty() && is_blank(left_.front()))
            left_.remove_prefix(1);
    }
    bool take(char c) noexcept
    {
        skip_blanks();
        if (!left_.starts_with(c))
            return false;
        left_.remove_prefix(1);
        return true;
    }
    /// Without its quotes; nothing if there is an escape in it.
    std::optional<std::string_view> take_string() noexcept
    {
        if (!take('"'))
            return std::nullopt;
        const std::size_t end = find_stop(left_, is_quote_or_escape);
        if (end == left_.npos || left_[end] != '"')
            return std::nullopt;
        const std::string_view text = left_.substr(0, end);
        left_.remove_prefix(end + 1);
        return text;
    }
    /// A string with its quotes, a number or a literal. Empty for anything else, and for what the
    /// window cuts off.
    std::string_view take_scalar() noexcept
    {
        const std::string_view from = left_;
        if (left_.starts_with('"')) {
            if (!take_string())
                return {};
            return from.substr(0, from.size() - left_.size());
        }
        const std::size_t end = find_stop(left_, ends_scalar);
        if (end == left_.npos || (left_[end] != ',' && left_[end] != '}' && !is_blank(left_[end])))
            return {};
        left_.remove_prefix(end);
        return from.substr(0, end);
    }

    std::string_view left_;
    bool is_inside_ = false;
};

/// The same from the end. In valid JSON a quote met outside of a string ends one, and the quote
/// that begins it is the next one that no backslash precedes.
class back_walk {
public:
    explicit back_walk(std::string_view text) noexcept
        : left_{text.substr(text.size() - std::min(text.size(), window))}
    {
    }

    void run(seen_revision& seen) noexcept
    {
        if (!take('}'))
            return;
        do {
            const std::string_view value = take_scalar();
            if (value.empty() || !take(':'))
                return;
            const auto key = take_string();
            if (!key)
                return;
            if (auto* const place = seen.place_of(*key); place && !*place)
                *place = whole_number(value);
        } while (!seen.complete() && take(','));
    }

private:
    void skip_blanks() noexcept
    {
        while (!left_.empty() && is_blank(left_.back()))
            left_.remove_suffix(1);
    }
    bool take(char c) noexcept
    {
        skip_blanks();
        if (!left_.ends_with(c))
            return false;
        left_.remove_suffix(1);
        return true;
    }
    std::optional<std::string_view> take_string() noexcept
    {
        if (!take('"'))
            return std::nullopt;
        const std::size_t begin = find_last_stop(left_, is_quote_or_escape);
        // A quote at the very edge may be escaped by what the window cuts off.
        if (begin == left_.npos || begin == 0 || left_[begin] != '"' || left_[begin - 1] == '\\')
            return std::nullopt;
        const std::string_view text = left_.substr(begin + 1);
        left_ = left_.substr(0, begin);
        return text;
    }
    std::string_view take_scalar() noexcept
    {
        skip_blanks();
        if (left_.ends_with('"')) {
            const auto text = take_string();
            return text ? std::string_view{text->data() - 1, text->size() + 2} : std::string_view{};
        }
        const std::size_t before = find_last_stop(left_, ends_scalar);
        if (before == left_.npos || (left_[before] != ':' && !is_blank(left_[before])))
            return {};
        const std::string_view text = left_.substr(before + 1);
        left_ = left_.substr(0, before + 1);
        return text;
    }

    std::string_view left_;
};

/// Searches for the rarest letter of the name: a configuration has few capital letters, and nearly
/// all of it is skipped by the search for one byte.
bool mentions_epoch(std::string_view text) noexcept
{
    constexpr std::string_view name = "revEpoch";
    constexpr std::size_t capital = 3;
    for (std::size_t at = text.find('E'); at != text.npos; at = text.find('E', at + 1))
        if (at >= capital && text.substr(at - capital, name.size()) == name)
            return true;
    return false;
}

}  // namespace

std::optional<config_revision> peek_revision(std::string_view text) noexcept
{
    seen_revision seen;
    front_walk front{text};
    while (front.next(seen) && !seen.rev) {}
    // The epoch nearly always stands beside the revision; if not, there nearly always is none.
    if (!seen.epoch)
        front.next(seen);
    const bool has_epoch = seen.epoch || mentions_epoch(text);
    while (has_epoch && !seen.complete() && front.next(seen)) {}
    const auto is_partial = [&] { return !seen.rev || (has_epoch && !seen.epoch); };
    if (is_partial())
        back_walk{text}.run(seen);
    if (is_partial())
        return std::nullopt;
    return config_revision{seen.epoch, *seen.rev};
}

}  // namespace holdfast::core::couchbase
