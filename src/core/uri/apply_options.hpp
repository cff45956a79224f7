#pragma once
#include "core/uri/option_table.hpp"
#include "core/uri/option_value.hpp"
#include "core/uri/percent.hpp"

#include <string>
#include <utility>
#include <vector>

namespace holdfast::core::uri {

struct option_text {
    std::span<const raw_option> options = {};
    bool may_quote_names = true;  // false if a name may be a piece of a password
};

namespace details {

/// A name that is in no table, fit to be shown.
std::string quoted_name(std::string_view name);

template <class Settings>
std::string allowed_are(const option<Settings>& which)
{
    return "allowed: " + allowed_values(which);
}

/// All that was written about one option, in the order of writing.
struct mentions {
    std::vector<std::string_view> values;          // under its own name, or a name of equal rank
    std::vector<std::string_view> outdated;        // under a deprecated name
    const option_alias* deprecated_name = nullptr;
};

template <class Settings>
class applying {
public:
    applying(const option_table<Settings>& table, Settings& settings)
        : table_{table}, settings_{settings}
    {
    }

    mentions find_mentions(const option<Settings>& which,
                           std::span<const raw_option> options) const;
    result<void> apply(const option<Settings>& which, mentions found);
    void warn_unknown(const option_text& text);

    std::vector<std::string> warnings;

private:
    error refuse(const option<Settings>& which, const std::string& why) const
    {
        return error{table_.invalid_option, std::string{which.name} + ": " + why}.with_context(
            "option", std::string{which.name});
    }
    void warn(const option<Settings>& which, const std::string& what)
    {
        warnings.push_back(std::string{which.name} + ": " + what);
    }
    void warn_deprecated(const option<Settings>& which, const mentions& found);
    result<void> check_agreement(const option<Settings>& which, const mentions& found) const;
    result<void> take(const option<Settings>& which, std::string_view value);

    const option_table<Settings>& table_;
    Settings& settings_;
};

template <class Settings>
void applying<Settings>::warn_deprecated(const option<Settings>& which, const mentions& found)
{
    if (!found.deprecated_name)
        return;
    const std::string old{found.deprecated_name->name};
    warnings.push_back(found.values.empty()
                           ? old + ": is a deprecated name of " + std::string{which.name}
                           : old + ": is ignored, since its replacement " +
                                 std::string{which.name} + " is given");
}

template <class Settings>
result<void> applying<Settings>::check_agreement(const option<Settings>& which,
                                                 const mentions& found) const
{
    std::vector<std::string> first;
    for (const std::string_view value : found.values) {
        Settings alone;
        const auto decoded = percent_decode(value).value_or("");
        if (take_value(which, alone, decoded).is != reading::status::taken)
            return refuse(which, "a value is not allowed; " + allowed_are(which));
        if (first.empty())
            first = written(which, alone);
        else if (first != written(which, alone))
            return refuse(which,
                          "given more than once, with different values; " + allowed_are(which));
    }
    return {};
}

template <class Settings>
result<void> applying<Settings>::take(const option<Settings>& which, std::string_view value)
{
    auto decoded = percent_decode(value);
    const reading outcome = decoded ? take_value(which, settings_, *decoded)
                                    : reading{which.must_be_valid ? reading::status::fatal
                                                                  : reading::status::ignored,
                                              "it is not percent-encoded UTF-8"};
    if (decoded)
        wipe(*decoded);  // some options are passwords
    const std::string note = outcome.note.empty() ? "" : std::string{outcome.note} + "; ";
    switch (outcome.is) {
    case reading::status::fatal:
        return refuse(which, "the value is not allowed; " + note + allowed_are(which));
    case reading::status::ignored:
        warn(which, "the value is not allowed, and ignored; " + note + allowed_are(which));
        break;
    case reading::status::taken:
        if (!note.empty())
            warn(which, note + allowed_are(which));
        break;
    }
    return {};
}

template <class Settings>
result<void> applying<Settings>::apply(const option<Settings>& which, mentions found)
{
    warn_deprecated(which, found);
    if (found.values.empty())
        found.values = std::move(found.outdated);
    const bool repeated = found.values.size() > 1;
    switch (which.repeated) {
    case if_repeated::last_counts:
        if (repeated)
            warn(which, "given more than once; the last one counts");
        found.values = {found.values.back()};
        break;
    case if_repeated::is_list:
        break;
    case if_repeated::must_agree:
        if (auto agreed = check_agreement(which, found); !agreed)
            return agreed;
        found.values = {found.values.back()};
        break;
    case if_repeated::is_error:
        if (repeated)
            return refuse(which, "given more than once; " + allowed_are(which));
        break;
    }
    for (const std::string_view value : found.values)
        if (auto taken = take(which, value); !taken)
            return taken;
    return {};
}

template <class Settings>
void applying<Settings>::warn_unknown(const option_text& text)
{
    for (std::size_t at = 0; at < text.options.size(); ++at) {
        const std::string& name = text.options[at].name;
        if (table_.find(name) || table_.find_alias(name))
            continue;
        // In "mongodb://me:12?34=5@host" the 34 is part of a password, and must not be shown.
        warnings.push_back(
            text.may_quote_names
                ? "option " + quoted_name(name) + " is unknown and ignored"
                : "option number " + std::to_string(at + 1) +
                      " is unknown and ignored; it is not shown, since an '@' in the options may "
                      "mean that it is part of a password that was not percent-encoded");
    }
}

template <class Settings>
mentions applying<Settings>::find_mentions(const option<Settings>& which,
                                           std::span<const raw_option> options) const
{
    mentions found;
    for (const raw_option& o : options) {
        const option_alias* const alias = table_.find_alias(o.name);
        if (table_.find(alias ? alias->stands_for : o.name) != &which)
            continue;
        if (alias && alias->deprecated) {
            found.outdated.push_back(o.value.view());
            found.deprecated_name = alias;
        } else {
            found.values.push_back(o.value.view());
        }
    }
    return found;
}

}  // namespace details

/// Takes options over into `settings`, and gives warnings about those that are unknown, repeated,
/// deprecated or not allowed. A mistake that would leave the client less safe than requested is an
/// error.
template <class Settings>
result<std::vector<std::string>> apply_options(const option_table<Settings>& table,
                                               const option_text& text, Settings& settings)
{
    details::applying<Settings> all{table, settings};
    all.warn_unknown(text);
    for (const option<Settings>& which : table.options) {
        details::mentions found = all.find_mentions(which, text.options);
        if (found.values.empty() && found.outdated.empty())
            continue;
        if (auto applied = all.apply(which, std::move(found)); !applied)
            return std::move(applied).error();
    }
    return std::move(all.warnings);
}

}  // namespace holdfast::core::uri
