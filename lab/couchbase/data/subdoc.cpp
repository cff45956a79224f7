#include "lab/couchbase/data/subdoc.hpp"

#include "lab/couchbase/data/json_check.hpp"
#include "lab/couchbase/data/virtual_xattrs.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::lab::couchbase {

namespace {

constexpr std::string_view no_xattrs = "{}";

bool is_whole(subdoc_opcode what)
{
    return what == subdoc_opcode::get_document || what == subdoc_opcode::set_document ||
           what == subdoc_opcode::remove_document;
}

/// What holds for every request: how many paths, and attributes before the body.
kv_status check_specs(std::span<const subdoc_spec> specs)
{
    if (specs.empty() || specs.size() > max_subdoc_specs)
        return kv_status::subdoc_invalid_combination;
    bool body_seen = false;
    for (const subdoc_spec& one : specs) {
        if (one.in_xattrs() && body_seen)
            return kv_status::subdoc_xattr_invalid_order;
        if ((one.flags & expand_macros_flag) != 0 && !one.in_xattrs())
            return kv_status::subdoc_xattr_invalid_flag_combination;
        if (is_whole(one.opcode) && (one.in_xattrs() || !one.path.empty()))
            return kv_status::invalid;
        body_seen = body_seen || !one.in_xattrs();
    }
    return kv_status::success;
}

kv_status json_problem(std::string_view text)
{
    switch (check_json(text, max_subdoc_depth)) {
    case json_state::valid:
        return kv_status::success;
    case json_state::too_deep:
        return kv_status::subdoc_doc_too_deep;
    case json_state::invalid:
        break;
    }
    return kv_status::subdoc_not_json;
}

bool is_lookup(subdoc_opcode what)
{
    return what == subdoc_opcode::get || what == subdoc_opcode::exists ||
           what == subdoc_opcode::get_count;
}

subdoc_value look_up_xattr(const vbucket& in, const document& at, const subdoc_spec& one,
                           const subdoc_path& path)
{
    const std::string* const name = path.empty() ? nullptr
                                                 : std::get_if<std::string>(&path.steps.front());
    if (!name)
        return {kv_status::xattr_invalid, {}};
    if (!name->starts_with('$'))
        return look_up(at.xattrs.empty() ? no_xattrs : std::string_view{at.xattrs}, one.opcode,
                       path);
    const std::string all = virtual_xattrs(in, at);
    if (!find_member(all, root_of(all), *name))
        return {kv_status::subdoc_xattr_unknown_virtual_attribute, {}};
    return look_up(all, one.opcode, path);
}

subdoc_value look_up_one(const vbucket& in, const document& at, kv_status body,
                         const subdoc_spec& one)
{
    if (one.opcode == subdoc_opcode::get_document)
        return at.deleted ? subdoc_value{kv_status::not_found, {}}
                          : subdoc_value{kv_status::success, at.value};
    if (!is_lookup(one.opcode))
        return {kv_status::subdoc_invalid_combination, {}};
    const parsed_path read = parse_path(one.path);
    if (read.code != kv_status::success)
        return {read.code, {}};
    if (one.in_xattrs())
        return look_up_xattr(in, at, one, read.path);
    if (at.deleted)
        return {kv_status::subdoc_path_not_found, {}};
    return body == kv_status::success ? look_up(at.value, one.opcode, read.path)
                                      : subdoc_value{body, {}};
}

/// The document, or its tombstone if that may be looked at.
const document* find_for_subdoc(vbucket& in, const doc_key& key, std::uint8_t doc_flags,
                                wall_time now)
{
    if (const document* const live = find_live(in, key, now))
        return live;
    return (doc_flags & access_deleted_flag) != 0 ? in.find(key) : nullptr;
}

}  // namespace

lookup_reply look_up(vbucket& in, const doc_key& key, const lookup_request& what, wall_time now)
{
    lookup_reply reply;
    reply.code = check_specs(what.specs);
    if (reply.code != kv_status::success)
        return reply;
    const document* const at = find_for_subdoc(in, key, what.doc_flags, now);
    if (!at) {
        reply.code = kv_status::not_found;
        return reply;
    }
    reply.cas = at->locked(now) ? locked_cas : at->cas;
    const kv_status body = at->deleted ? kv_status::success : json_problem(at->value);
    bool all = true;
    for (const subdoc_spec& one : what.specs) {
        reply.results.push_back(look_up_one(in, *at, body, one));
        all = all && reply.results.back().code == kv_status::success;
    }
    if (at->deleted)
        reply.code = all ? kv_status::subdoc_success_deleted
                         : kv_status::subdoc_multi_path_failure_deleted;
    else if (!all)
        reply.code = kv_status::subdoc_multi_path_failure;
    return reply;
}

namespace {

/// A mutation under way, on a copy of the document.
struct working_copy {
    vbucket& in;
    document made;
    bool body_edited = false;
    bool body_set = false;
    bool remove = false;
    macro_values macros;
    std::string body_afterwards;  // for a macro: attributes are changed before the body is
};

subdoc_value edit_xattr(working_copy& copy, const subdoc_spec& one, const subdoc_path& path)
{
    const std::string* const name = path.empty() ? nullptr
                                                 : std::get_if<std::string>(&path.steps.front());
    if (!name)
        return {kv_status::xattr_invalid, {}};
    if (name->starts_with('$'))
        return {kv_status::subdoc_xattr_cannot_modify_virtual_attribute, {}};
    std::string text{copy.made.xattrs.empty() ? no_xattrs : std::string_view{copy.made.xattrs}};
    std::string value = one.value;
    if ((one.flags & expand_macros_flag) != 0) {
        auto expanded = expand_macro(one.value, copy.macros, copy.body_afterwards);
        if (expanded.code != kv_status::success)
            return {expanded.code, {}};
        value = std::move(expanded.value);
    }
    const bool create = (one.flags & create_parents_flag) != 0;
    auto done = edit(text, one.opcode, path, value, create);
    if (done.code == kv_status::success)
        copy.made.xattrs = text == no_xattrs ? std::string{} : std::move(text);
    return done;
}

subdoc_value replace_body(working_copy& copy, const subdoc_spec& one, const subdoc_path& path)
{
    if (!one.in_xattrs())
        return {kv_status::subdoc_xattr_invalid_flag_combination, {}};
    const std::string_view text = copy.made.xattrs.empty() ? no_xattrs : copy.made.xattrs;
    const found_value found = find_path(text, path);
    if (found.code != kv_status::success || path.empty())
        return {path.empty() ? kv_status::subdoc_path_invalid : found.code, {}};
    copy.made.value = found.value.of(text);
    copy.body_set = true;
    return {};
}

subdoc_value change_whole(working_copy& copy, const subdoc_spec& one)
{
    if (one.opcode == subdoc_opcode::remove_document) {
        copy.remove = true;
        return {};
    }
    if (one.opcode != subdoc_opcode::set_document)
        return {kv_status::subdoc_invalid_combination, {}};
    copy.made.value = one.value;
    copy.body_set = true;
    return {};
}

subdoc_value change_one(working_copy& copy, const subdoc_spec& one)
{
    if (is_whole(one.opcode))
        return change_whole(copy, one);
    const parsed_path read = parse_path(one.path);
    if (read.code != kv_status::success)
        return {read.code, {}};
    if (one.opcode == subdoc_opcode::replace_body_with_xattr)
        return replace_body(copy, one, read.path);
    if (one.in_xattrs())
        return edit_xattr(copy, one, read.path);
    if (copy.made.deleted)
        return {kv_status::subdoc_path_not_found, {}};
    if (const kv_status wrong = json_problem(copy.made.value); wrong != kv_status::success)
        return {wrong, {}};
    copy.body_edited = true;
    return edit(copy.made.value, one.opcode, read.path, one.value,
                (one.flags & create_parents_flag) != 0);
}

/// The body that a new document begins with: what the first path into it asks for.
std::string first_body(std::span<const subdoc_spec> specs)
{
    for (const subdoc_spec& one : specs) {
        if (!one.in_xattrs() && !is_whole(one.opcode)) {
            const bool array = one.path.starts_with('[') ||
                               (one.path.empty() &&
                                (one.opcode == subdoc_opcode::array_push_last ||
                                 one.opcode == subdoc_opcode::array_push_first ||
                                 one.opcode == subdoc_opcode::array_add_unique));
            return array ? "[]" : "{}";
        }
    }
    return "{}";
}

kv_status check_mutation(const mutate_request& what)
{
    if (const kv_status wrong = check_specs(what.specs); wrong != kv_status::success)
        return wrong;
    const bool add = (what.doc_flags & add_flag) != 0;
    if (add && ((what.doc_flags & mkdoc_flag) != 0 || what.cas != 0))
        return kv_status::invalid;
    for (const subdoc_spec& one : what.specs) {
        if (is_lookup(one.opcode) || one.opcode == subdoc_opcode::get_document)
            return kv_status::subdoc_invalid_combination;
    }
    return kv_status::success;
}

/// Makes the copy that the specs change: of the document, of its tombstone, or of nothing.
kv_status start_copy(working_copy& copy, const doc_key& key, const mutate_request& what,
                     wall_time now)
{
    const std::uint8_t flags = what.doc_flags;
    const document* const at = find_for_subdoc(copy.in, key, flags, now);
    const bool revive = (flags & revive_flag) != 0;
    const bool create = (flags & (mkdoc_flag | add_flag)) != 0;
    if (at && !at->deleted) {
        if (revive)
            return kv_status::subdoc_can_only_revive_deleted_documents;
        if ((flags & add_flag) != 0)
            return kv_status::exists;
        copy.made = *at;
        return check_cas(*at, what.cas, now);
    }
    if (at && !(create && (flags & create_as_deleted_flag) == 0)) {
        if (what.cas != 0 && what.cas != at->cas)
            return kv_status::exists;
        copy.made = *at;
        copy.made.deleted = !revive;
        if (revive)
            copy.made.value = first_body(what.specs);
        return kv_status::success;
    }
    if (!create || what.cas != 0)
        return kv_status::not_found;
    if (key.name.empty() || key.name.size() > max_key_bytes)
        return kv_status::invalid;
    copy.made.deleted = (flags & create_as_deleted_flag) != 0;
    if (!copy.made.deleted)
        copy.made.value = first_body(what.specs);
    return kv_status::success;
}

/// After all specs: what makes a document that cannot be stored.
kv_status finish_copy(working_copy& copy, const mutate_request& what, wall_time now)
{
    if (copy.remove) {
        copy.made.deleted = true;
        copy.made.value.clear();
        copy.made.xattrs = system_xattrs(copy.made.xattrs);
    }
    if (copy.made.deleted && (copy.body_set || copy.body_edited) && !copy.remove)
        return kv_status::subdoc_deleted_document_cannot_have_value;
    if (copy.made.value.size() + copy.made.xattrs.size() > max_value_bytes)
        return kv_status::too_big;
    if (what.expiry)
        copy.made.expiry = absolute_expiry(*what.expiry, now);
    else if (!what.preserve_expiry)
        copy.made.expiry = 0;
    copy.made.json = !copy.made.deleted && is_json(copy.made.value);
    return kv_status::success;
}

/// Until one is refused, which `reply` names.
kv_status change_all(working_copy& copy, std::span<const subdoc_spec> specs, mutate_reply& reply)
{
    reply.results.clear();
    for (std::size_t n = 0; n < specs.size(); ++n) {
        auto done = change_one(copy, specs[n]);
        const auto index = static_cast<std::uint8_t>(n);
        if (done.code != kv_status::success) {
            reply.failed_index = index;
            reply.failed = done.code;
            return copy.made.deleted ? kv_status::subdoc_multi_path_failure_deleted
                                     : kv_status::subdoc_multi_path_failure;
        }
        if (!done.value.empty())
            reply.results.push_back({index, std::move(done.value)});
    }
    return kv_status::success;
}

bool expands_macros(std::span<const subdoc_spec> specs)
{
    return std::ranges::any_of(
        specs, [](const subdoc_spec& one) { return (one.flags & expand_macros_flag) != 0; });
}

}  // namespace

mutate_reply mutate(vbucket& in, const doc_key& key, const mutate_request& what, wall_time now)
{
    mutate_reply reply;
    working_copy copy{in, {}, false, false, false, {}, {}};
    kv_status wrong = check_mutation(what);
    if (wrong == kv_status::success)
        wrong = start_copy(copy, key, what, now);
    copy.macros = {in.next_cas(now), in.next_seqno()};
    const document before = copy.made;
    if (wrong == kv_status::success)
        wrong = change_all(copy, what.specs, reply);
    if (wrong == kv_status::success && expands_macros(what.specs)) {
        copy.body_afterwards = std::exchange(copy.made, before).value;
        wrong = change_all(copy, what.specs, reply);
    }
    if (wrong == kv_status::success)
        wrong = finish_copy(copy, what, now);
    if (wrong != kv_status::success) {
        reply.base = failed_mutation(wrong);
        reply.results.clear();
        return reply;
    }
    const bool deleted = copy.made.deleted && !copy.remove;
    reply.base = stored_reply(in, in.store(key, std::move(copy.made), now));
    if (deleted)
        reply.base.code = kv_status::subdoc_success_deleted;
    return reply;
}

}  // namespace holdfast::lab::couchbase
