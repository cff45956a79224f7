#include "core/couchbase/operation/projected_get.hpp"

#include "core/couchbase/retry/json_text.hpp"

#include <chrono>
#include <cstdint>
#include <span>

namespace holdfast::core::couchbase {

namespace {

namespace cb = holdfast::couchbase;

constexpr std::string_view expiry_path = "$document.exptime";
constexpr std::string_view flags_path = "$document.flags";

/// As large as documents can be.
json_limits document_limits()
{
    return {.max_bytes = json::max_text_size};
}

result<boost::json::value> parse_part(std::string_view text)
{
    return parse_json(text, document_limits());
}

cb::lookup paths_to_send(const cb::get_options& options, bool whole)
{
    cb::lookup sent;
    if (options.with_expiry)
        sent.add(cb::get(expiry_path).xattr());
    if (whole) {
        sent.add(cb::get(flags_path).xattr());
        sent.add(cb::get(""));
    } else {
        for (const std::string_view path : options.project)
            sent.add(cb::get(path));
    }
    return sent;
}

/// Puts together what the server has cut out.
result<std::string> join(std::span<const std::vector<path_step>> paths,
                         const cb::lookup_result& found, std::size_t first)
{
    projection parts;
    for (std::size_t n = 0; n < paths.size(); ++n) {
        const error_code code = found.code(first + n);
        // What is not there, or would be below something that is no object, is left out.
        if (code == errc::path_not_found || code == errc::path_mismatch)
            continue;
        if (code)
            return found.try_as<cb::raw_json>(first + n).error();
        auto part = parse_part(found.content(first + n));
        if (!part)
            return std::move(part).error();
        parts.add(paths[n], *std::move(part));
    }
    return parts.text();
}

result<std::string> cut(std::span<const std::vector<path_step>> paths, std::string_view document)
{
    const auto all = parse_part(document);
    if (!all)
        return all.error();
    projection parts;
    for (const std::vector<path_step>& path : paths) {
        if (const boost::json::value* const part = find_path(*all, path))
            parts.add(path, *part);
    }
    return parts.text();
}

}  // namespace

result<projected_get_operation> projected_get_operation::make(std::string_view key,
                                                              const cb::get_options& options,
                                                              const operation_context& in)
{
    result<projected_get_operation> made{projected_get_operation{}};
    made->with_expiry = options.with_expiry;
    const std::size_t room = cb::max_subdoc_paths - options.with_expiry;
    made->whole = options.project.empty() || options.project.size() > room;
    made->paths.reserve(options.project.size());
    for (const std::string_view path : options.project) {
        auto steps = parse_path(path);
        if (!steps)
            return std::move(steps).error();
        made->paths.push_back(*std::move(steps));
    }
    auto lookup = lookup_in_operation::make(key, paths_to_send(options, made->whole), {}, in);
    if (!lookup)
        return std::move(lookup).error();
    made->order = std::move(lookup->order);
    made->order.operation = "get";
    made->lookup = *std::move(lookup);
    return made;
}

auto projected_get_operation::read(const kv_reply& reply) const -> result<value_type>
{
    const auto found = lookup.read(reply);
    if (!found)
        return found.error();
    result<value_type> read{value_type{}};
    read->cas = found->cas();
    std::size_t next = 0;
    if (with_expiry) {
        const auto seconds = found->try_as<std::uint32_t>(next++);
        if (!seconds)
            return seconds.error();
        if (*seconds != 0)
            read->expiry = std::chrono::sys_seconds{std::chrono::seconds{*seconds}};
    }
    read->flags = cb::content_flags::json;
    result<std::string> bytes{std::string{}};
    if (whole) {
        const auto flags = found->try_as<std::uint32_t>(next);
        if (!flags)
            return flags.error();
        read->flags = *flags;
        const error_code code = found->code(next + 1);
        if (code)
            return found->try_as<cb::raw_json>(next + 1).error();
        bytes = paths.empty() ? result<std::string>{std::string{found->content(next + 1)}}
                              : cut(paths, found->content(next + 1));
    } else {
        bytes = join(paths, *found, next);
    }
    if (!bytes)
        return std::move(bytes).error();
    read->content = {*std::move(bytes), read->flags};
    return read;
}

result<projected_get_if_operation> projected_get_if_operation::make(std::string_view key,
                                                                    const cb::get_options& options,
                                                                    const operation_context& in)
{
    auto get = projected_get_operation::make(key, options, in);
    if (!get)
        return std::move(get).error();
    result<projected_get_if_operation> made{projected_get_if_operation{}};
    made->order = std::move(get->order);
    made->order.operation = "get_if";
    made->get = *std::move(get);
    return made;
}

auto projected_get_if_operation::read(const kv_reply& reply) const -> result<value_type>
{
    if (reply.status == kv_status::not_found)
        return value_type{};
    auto found = get.read(reply);
    if (!found)
        return std::move(found).error();
    return value_type{*std::move(found)};
}

}  // namespace holdfast::core::couchbase
