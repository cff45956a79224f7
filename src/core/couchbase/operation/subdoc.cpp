#include "core/couchbase/operation/subdoc.hpp"

#include "core/couchbase/retry/classify_kv.hpp"
#include "core/couchbase/wire/big_endian.hpp"

#include <cstring>
#include <optional>
#include <utility>

namespace holdfast::core::couchbase {

namespace {

namespace cb = holdfast::couchbase;

template <std::unsigned_integral Number>
void append_big(bson::byte_buffer& out, Number number)
{
    store_big(out.grow(sizeof number), number);
}

void append_text(bson::byte_buffer& out, std::string_view text)
{
    text.copy(reinterpret_cast<char*>(out.grow(text.size())), text.size());
}

/// Stable, so that changes of the same part keep their order.
template <class Paths>
path_order xattrs_first(const Paths& paths)
{
    path_order order{};
    std::size_t placed = 0;
    for (const bool xattrs : {true, false})
        for (std::size_t n = 0; n != paths.size(); ++n)
            if (paths[n].is_xattr() == xattrs)
                order[placed++] = static_cast<std::uint8_t>(n);
    return order;
}

template <class Paths>
std::optional<error> check_paths(const Paths& paths)
{
    if (paths.empty())
        return error{errc::invalid_argument, "no path is given"};
    if (paths.size() > cb::max_subdoc_paths)
        return error{errc::invalid_argument, std::to_string(paths.size()) +
                                                 " paths; one request has room for " +
                                                 std::to_string(cb::max_subdoc_paths)};
    for (const auto& one : paths) {
        if (one.path().size() > max_path_size)
            return error{errc::path_too_big, "a path of " + std::to_string(one.path().size()) +
                                                 " bytes; at most " +
                                                 std::to_string(max_path_size) + " are possible"};
        if (one.is_xattr() && one.path().empty())
            return error{errc::invalid_argument, "an extended attribute needs a path"};
    }
    return std::nullopt;
}

error failed_path(const asked_path& asked, std::size_t index, kv_status status)
{
    const classification meant = classify_kv(kv_opcode::subdoc_multi_mutation, status);
    return error{path_error(status, asked.is_xattr),
                 "path \"" + asked.path + "\": " + meant.message}
        .with_context("path", asked.path)
        .with_context("index", std::to_string(index));
}

result<lookup_in_operation> make_lookup(std::string_view key, const cb::lookup& paths,
                                        std::uint8_t flags, const operation_context& in)
{
    if (auto problem = check_paths(paths.paths()))
        return *std::move(problem);
    auto order = begin_order(kv_opcode::subdoc_multi_lookup, "lookup_in", key, in);
    if (!order)
        return std::move(order).error();
    result<lookup_in_operation> made{lookup_in_operation{*std::move(order), {}, {}}};
    made->sent = xattrs_first(paths.paths());
    if (flags != 0)
        made->order.extras.add(flags);
    for (std::size_t n = 0; n < paths.paths().size(); ++n) {
        const cb::lookup_path& one = paths.paths()[made->sent[n]];
        append_big(made->order.value, static_cast<std::uint8_t>(one.command()));
        append_big(made->order.value, one.flags());
        append_big(made->order.value, static_cast<std::uint16_t>(one.path().size()));
        append_text(made->order.value, one.path());
    }
    made->asked.reserve(paths.paths().size());
    for (const cb::lookup_path& one : paths.paths())
        made->asked.push_back(
            {one.path(), one.is_xattr(), one.command() == cb::path_command::exists});
    return made;
}

result<std::uint8_t> flags_of(const cb::mutate_in_options& options)
{
    std::uint8_t flags = 0;
    switch (options.store_semantics) {
    case cb::store_semantics::replace: break;
    case cb::store_semantics::upsert: flags = doc_flags::create; break;
    case cb::store_semantics::insert: flags = doc_flags::add; break;
    case cb::store_semantics::revive: flags = doc_flags::revive | doc_flags::access_deleted; break;
    }
    if (options.access_deleted)
        flags |= doc_flags::access_deleted;
    if (!options.create_as_deleted)
        return flags;
    if ((flags & (doc_flags::create | doc_flags::add)) == 0)
        return error{errc::invalid_argument,
                     "create_as_deleted needs store_semantics upsert or insert"};
    // A tombstone that is there already must be seen.
    return static_cast<std::uint8_t>(flags | doc_flags::create_as_deleted |
                                     doc_flags::access_deleted);
}

std::optional<error> check_changes(const cb::changes& what, const cb::mutate_in_options& options)
{
    if (auto problem = check_paths(what.all()))
        return problem;
    if (options.preserve_expiry && !options.expiry.is_never())
        return error{errc::invalid_argument,
                     "preserve_expiry and an expiry cannot be asked for together"};
    if (options.cas && options.store_semantics == cb::store_semantics::insert)
        return error{errc::invalid_argument, "a document that is to be made has no cas"};
    for (const cb::path_change& one : what.all()) {
        if (one.fault())
            return error{one.fault()->code().category() == cb::category()
                             ? one.fault()->code()
                             : make_error_code(errc::encoding_failure),
                         "path \"" + one.path() + "\": " + one.fault()->message()};
    }
    return std::nullopt;
}

void append_changes(bson::byte_buffer& out, const cb::changes& what, const path_order& order)
{
    for (std::size_t n = 0; n < what.all().size(); ++n) {
        const cb::path_change& one = what.all()[order[n]];
        append_big(out, static_cast<std::uint8_t>(one.command()));
        append_big(out, one.flags());
        append_big(out, static_cast<std::uint16_t>(one.path().size()));
        append_big(out, static_cast<std::uint32_t>(one.value().size()));
        append_text(out, one.path());
        append_text(out, one.value());
    }
}

/// Which path failed: its number among those that were sent, and its status.
error read_failed_path(const kv_reply& reply, std::span<const asked_path> asked,
                       const path_order& order)
{
    big_endian_reader from{reply.value};
    const auto index = from.take<std::uint8_t>();
    const auto status = from.take<std::uint16_t>();
    if (!status || *index >= asked.size())
        return bad_reply("no path that failed");
    const std::size_t place = order[*index];
    return failed_path(asked[place], place, static_cast<kv_status>(*status));
}

/// The values of those paths that have one.
std::optional<error> read_changed(std::span<const std::uint8_t> value,
                                  std::vector<cb::path_result>& paths, const path_order& order)
{
    big_endian_reader from{value};
    while (!from.empty()) {
        const auto index = from.take<std::uint8_t>();
        const auto status = from.take<std::uint16_t>();
        const auto size = from.take<std::uint32_t>();
        const auto content = size ? from.take_bytes(*size) : std::nullopt;
        if (!content || *index >= paths.size())
            return bad_reply("results that cannot be read");
        cb::path_result& one = paths[order[*index]];
        one.code = path_error(static_cast<kv_status>(*status), false);
        one.content.assign(content->begin(), content->end());
    }
    return std::nullopt;
}

}  // namespace

error_code path_error(kv_status status, bool is_xattr)
{
    if (status == kv_status::success)
        return {};
    if (status == kv_status::no_access && is_xattr)
        return errc::xattr_no_access;
    return classify_kv(kv_opcode::subdoc_get, status).code;
}

result<std::vector<cb::path_result>> read_lookup(std::span<const std::uint8_t> value,
                                                 std::span<const asked_path> asked,
                                                 const path_order& order)
{
    result<std::vector<cb::path_result>> read{std::vector<cb::path_result>(asked.size())};
    big_endian_reader from{value};
    for (std::size_t n = 0; n < asked.size(); ++n) {
        const auto status = from.take<std::uint16_t>();
        const auto size = from.take<std::uint32_t>();
        const auto content = size ? from.take_bytes(*size) : std::nullopt;
        if (!content)
            return bad_reply("fewer results than paths were asked for");
        const std::size_t place = order[n];
        cb::path_result& one = (*read)[place];
        one.path = asked[place].path;
        one.only_exists = asked[place].only_exists;
        one.code = path_error(static_cast<kv_status>(*status), asked[place].is_xattr);
        one.content.assign(content->begin(), content->end());
    }
    if (!from.empty())
        return bad_reply("more results than paths were asked for");
    return read;
}

result<lookup_in_operation> lookup_in_operation::make(std::string_view key, const cb::lookup& paths,
                                                      const cb::lookup_in_options& options,
                                                      const operation_context& in)
{
    return make_lookup(key, paths,
                       options.access_deleted ? doc_flags::access_deleted : std::uint8_t{0}, in);
}

result<lookup_in_operation> lookup_in_operation::make_for_copy(std::string_view key,
                                                               const cb::lookup& paths,
                                                               std::uint8_t copy,
                                                               cb::read_preference which,
                                                               const operation_context& in)
{
    auto made = make_lookup(key, paths, copy != 0 ? doc_flags::replica_read : std::uint8_t{0}, in);
    if (made) {
        made->order.copy = copy;
        made->order.preference = which;
    }
    return made;
}

auto lookup_in_operation::read(const kv_reply& reply) const -> result<value_type>
{
    auto paths = read_lookup(reply.value, asked, sent);
    if (!paths)
        return std::move(paths).error();
    const bool is_deleted = reply.status == kv_status::subdoc_success_deleted ||
                            reply.status == kv_status::subdoc_multi_path_failure_deleted;
    return value_type{*std::move(paths), {reply.cas}, is_deleted};
}

result<mutate_in_operation> mutate_in_operation::make(std::string_view key, const cb::changes& what,
                                                      const cb::mutate_in_options& options,
                                                      const operation_context& in)
{
    if (auto problem = check_changes(what, options))
        return *std::move(problem);
    const auto flags = flags_of(options);
    if (!flags)
        return flags.error();
    const auto expiry = expiry_number(options.expiry, in);
    if (!expiry)
        return expiry.error();
    auto infos = write_infos(options.durability, options.preserve_expiry, in);
    if (!infos)
        return std::move(infos).error();
    auto order = begin_order(kv_opcode::subdoc_multi_mutation, "mutate_in", key, in);
    if (!order)
        return std::move(order).error();
    result<mutate_in_operation> made{mutate_in_operation{*std::move(order), {}, {}, false}};
    made->order.cas = options.cas.value;
    made->order.infos = *infos;
    if (*expiry != 0)
        made->order.extras.add(*expiry);
    if (*flags != 0)
        made->order.extras.add(*flags);
    made->sent = xattrs_first(what.all());
    append_changes(made->order.value, what, made->sent);
    made->asked.reserve(what.all().size());
    for (const cb::path_change& one : what.all())
        made->asked.push_back({one.path(), one.is_xattr(), false});
    made->inserts = options.store_semantics == cb::store_semantics::insert;
    return made;
}

auto mutate_in_operation::read(const kv_reply& reply) const -> result<value_type>
{
    switch (reply.status) {
    case kv_status::exists:
        return inserts ? error{errc::document_exists, "status 0x02: the document exists"}
                       : error{errc::cas_mismatch, "status 0x02: the document has changed"};
    case kv_status::subdoc_multi_path_failure:
    case kv_status::subdoc_multi_path_failure_deleted: return read_failed_path(reply, asked, sent);
    default: break;
    }
    auto change = read_mutation(reply);
    if (!change)
        return std::move(change).error();
    std::vector<cb::path_result> paths(asked.size());
    for (std::size_t n = 0; n < asked.size(); ++n)
        paths[n].path = asked[n].path;
    if (auto problem = read_changed(reply.value, paths, sent))
        return *std::move(problem);
    return value_type{*std::move(change), std::move(paths),
                      reply.status == kv_status::subdoc_success_deleted};
}

}  // namespace holdfast::core::couchbase

namespace holdfast::couchbase {

path_change& path_change::refuse(std::string_view message)
{
    if (!fault_)
        fault_ = error{errc::invalid_argument, std::string{message}};
    return *this;
}

namespace details {

error path_failure(const path_result& one)
{
    return error{one.code, "path \"" + one.path + "\": " + one.code.message()}.with_context(
        "path", one.path);
}

error no_such_path(std::size_t n, std::size_t count)
{
    return error{errc::invalid_argument, "there is no path " + std::to_string(n) + " among " +
                                             std::to_string(count) + ", counted from 0"};
}

}  // namespace details

}  // namespace holdfast::couchbase
