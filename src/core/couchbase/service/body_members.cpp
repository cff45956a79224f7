#include "core/couchbase/service/body_members.hpp"

#include "holdfast/couchbase/errc.hpp"
#include "holdfast/couchbase/query_parameters.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::core::couchbase {

namespace {

using holdfast::couchbase::errc;
using holdfast::couchbase::query_parameters;
using holdfast::couchbase::raw_option;

error not_usable(std::string_view name, const error& why)
{
    return error{errc::invalid_argument, std::string{name} + ": " + why.message()}.with_context(
        "option", std::string{name});
}

std::string text_of(std::chrono::milliseconds time)
{
    return std::to_string(time.count()) + "ms";
}

}  // namespace

bool body_members::is_raw(std::string_view name) const noexcept
{
    return std::ranges::find(raw_, name, &raw_option::name) != raw_.end();
}

/// The first problem is the one that is reported. The writer can go on after it.
void body_members::note(std::string_view name)
{
    if (!out_.failed() || problem_)
        return;
    problem_ = not_usable(name, std::move(out_).fault());
}

void body_members::add(std::string_view name, std::string_view value)
{
    if (is_raw(name))
        return;
    out_.key(name);
    out_.write(value);
    note(name);
}

void body_members::add(std::string_view name, bool value)
{
    if (is_raw(name))
        return;
    out_.key(name);
    out_.write(value);
}

void body_members::add_text_of(std::string_view name, std::optional<std::uint64_t> number)
{
    if (number)
        add(name, std::to_string(*number));
}

void body_members::add_number(std::string_view name, std::optional<std::uint64_t> number)
{
    if (!number || is_raw(name))
        return;
    out_.key(name);
    out_.write(*number);
}

void body_members::add_flag(std::string_view name, bool value)
{
    if (value)
        add(name, true);
}

void body_members::add_json(std::string_view name, std::string_view json)
{
    if (is_raw(name))
        return;
    out_.key(name);
    out_.write_json(json);
    note(name);
}

void body_members::add_list(std::string_view name, std::span<const std::string_view> texts)
{
    if (texts.empty() || is_raw(name))
        return;
    out_.key(name);
    out_.begin_array();
    for (const std::string_view text : texts)
        out_.write(text);
    out_.end_array();
    note(name);
}

void body_members::add_time(std::string_view name, std::optional<std::chrono::milliseconds> time)
{
    if (time)
        add(name, text_of(*time));
}

void body_members::add_parameters(const query_parameters* parameters)
{
    if (!parameters)
        return;
    if (parameters->problem() && !problem_)
        problem_ = *parameters->problem();
    add_positional(*parameters);
    for (const query_parameters::entry& entry : parameters->entries())
        if (!entry.name.empty())
            add_json(entry.name.front() == '$' ? entry.name : '$' + entry.name, entry.json);
}

void body_members::add_positional(const query_parameters& parameters)
{
    const auto is_positional = [](const query_parameters::entry& e) { return e.name.empty(); };
    if (is_raw("args") || std::ranges::none_of(parameters.entries(), is_positional))
        return;
    out_.key("args");
    out_.begin_array();
    for (const query_parameters::entry& entry : parameters.entries())
        if (is_positional(entry))
            out_.write_json(entry.json);
    out_.end_array();
    note("args");
}

result<std::string> body_members::finish() &&
{
    for (const raw_option& option : std::exchange(raw_, {})) {
        out_.key(option.name);
        out_.write_json(option.json);
        note(option.name);
    }
    if (problem_)
        return *std::move(problem_);
    return text_in(bytes_);
}

std::string text_in(const bson::byte_buffer& written)
{
    return {reinterpret_cast<const char*>(written.data()), written.size()};
}

result<std::string> json_text_of(std::string_view name, std::string_view text)
{
    bson::byte_buffer bytes;
    json::writer out{bytes};
    if (!out.write(text))
        return not_usable(name, std::move(out).fault());
    return text_in(bytes);
}

std::string joined(std::initializer_list<std::string_view> members)
{
    std::string made;
    for (const std::string_view some : members) {
        if (some.empty())
            continue;
        if (!made.empty())
            made += ',';
        made += some;
    }
    return made;
}

std::string object_of(std::initializer_list<std::string_view> members)
{
    return '{' + joined(members) + '}';
}

std::string timeout_member(std::chrono::milliseconds time_left)
{
    return "\"timeout\":\"" + text_of(at_least_one(time_left)) + '"';
}

}  // namespace holdfast::core::couchbase
