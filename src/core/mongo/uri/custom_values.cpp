#include "core/mongo/uri/custom_values.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace holdfast::core::mongo {

namespace {

constexpr reading taken{};
constexpr reading ignored{reading::status::ignored};

template <class Pairs>
std::string joined(const Pairs& pairs)
{
    std::string text;
    for (const auto& [name, value] : pairs)
        text += (text.empty() ? "" : ",") + name + ':' + value;
    return text;
}

std::string upper(std::string text)
{
    std::ranges::transform(text, text.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    return text;
}

constexpr std::array<std::pair<monitoring_mode, std::string_view>, 3> monitoring_modes{{
    {monitoring_mode::automatic, "auto"},
    {monitoring_mode::stream, "stream"},
    {monitoring_mode::poll, "poll"},
}};

constexpr std::array profiles{profile_name::as_specified, profile_name::upstream_2026_07};

}  // namespace

reading take_w(client_settings& to, std::string_view value)
{
    if (value.empty())
        return ignored;
    const auto number = uri::parse_number(value);
    if (!number) {
        to.write_concern.w = std::string{value};
        return taken;
    }
    // Fatal: with an ignored value, writes would be acknowledged otherwise than requested.
    if (*number < 0 || *number > std::numeric_limits<std::int32_t>::max())
        return {reading::status::fatal};
    to.write_concern.w = static_cast<std::int32_t>(*number);
    return taken;
}

std::vector<std::string> written_w(const client_settings& from)
{
    if (const auto* members = std::get_if<std::int32_t>(&from.write_concern.w))
        return {std::to_string(*members)};
    if (const auto* mode = std::get_if<std::string>(&from.write_concern.w))
        return {*mode};
    return {};
}

reading take_read_mode(client_settings& to, std::string_view value)
{
    const auto mode = parse_read_mode(value);
    if (!mode)
        return ignored;
    to.read_preference.mode = *mode;
    return taken;
}

std::vector<std::string> written_read_mode(const client_settings& from)
{
    return {std::string{name_of(from.read_preference.mode)}};
}

reading take_tag_set(client_settings& to, std::string_view value)
{
    tag_set tags;
    if (!value.empty())  // an empty set matches every server: it ends a list of wishes
        for (const std::string_view piece : uri::split_list(value)) {
            auto tag = uri::split_pair(piece);
            if (!tag)
                return ignored;  // the set as a whole: without one of its tags it would match more
            tags[std::move(tag->name)] = std::move(tag->value);
        }
    to.read_preference.tag_sets.push_back(std::move(tags));
    return taken;
}

std::vector<std::string> written_tag_sets(const client_settings& from)
{
    std::vector<std::string> sets;
    for (const tag_set& tags : from.read_preference.tag_sets)
        sets.push_back(joined(tags));
    return sets;
}

reading take_max_staleness(client_settings& to, std::string_view value)
{
    constexpr std::int64_t least = 90;
    const auto number = uri::parse_number(value);
    if (!number || *number > std::numeric_limits<std::int32_t>::max())
        return ignored;
    if (*number == -1) {
        to.read_preference.max_staleness.reset();
        return taken;
    }
    if (*number < least)
        return ignored;
    to.read_preference.max_staleness = std::chrono::seconds{*number};
    return taken;
}

std::vector<std::string> written_max_staleness(const client_settings& from)
{
    if (!from.read_preference.max_staleness)
        return {"-1"};
    return {std::to_string(from.read_preference.max_staleness->count())};
}

reading take_compressors(client_settings& to, std::string_view value)
{
    constexpr std::array<std::string_view, 3> known{"snappy", "zlib", "zstd"};
    std::vector<std::string> chosen;
    reading outcome = taken;
    for (const std::string_view name : uri::split_list(value)) {
        if (std::ranges::find(known, name) == known.end())
            outcome.note = "a compressor that is not known is ignored";
        else if (std::ranges::find(chosen, name) == chosen.end())
            chosen.emplace_back(name);
    }
    if (chosen.empty())
        return ignored;
    to.compressors = std::move(chosen);
    return outcome;
}

std::vector<std::string> written_compressors(const client_settings& from)
{
    std::string text;
    for (const std::string& name : from.compressors)
        text += (text.empty() ? "" : ",") + name;
    return text.empty() ? std::vector<std::string>{} : std::vector{text};
}

reading take_monitoring_mode(client_settings& to, std::string_view value)
{
    for (const auto& [mode, name] : monitoring_modes)
        if (name == value) {
            to.monitoring = mode;
            return taken;
        }
    return ignored;
}

std::vector<std::string> written_monitoring_mode(const client_settings& from)
{
    for (const auto& [mode, name] : monitoring_modes)
        if (mode == from.monitoring)
            return {std::string{name}};
    return {};
}

reading take_profile(client_settings& to, std::string_view value)
{
    for (const profile_name profile : profiles)
        if (name_of(profile) == value) {
            to.resilience_profile = profile;
            return taken;
        }
    return ignored;
}

std::vector<std::string> written_profile(const client_settings& from)
{
    return {std::string{name_of(from.resilience_profile)}};
}

reading take_mechanism_properties(client_settings& to, std::string_view value)
{
    if (!to.credential)
        to.credential.emplace();
    reading outcome = ignored;
    for (const std::string_view piece : uri::split_list(value)) {
        auto property = uri::split_pair(piece);
        if (!property) {
            outcome.note =
                "what is not of the form NAME:value is ignored, and no value may hold a "
                "comma";
            continue;
        }
        outcome.is = reading::status::taken;
        to.credential->properties[upper(std::move(property->name))] = std::move(property->value);
    }
    return outcome;
}

std::vector<std::string> written_mechanism_properties(const client_settings& from)
{
    if (!from.credential || from.credential->properties.empty())
        return {};
    return {joined(from.credential->properties)};
}

}  // namespace holdfast::core::mongo
