#include "lab/couchbase/map/manifest.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace holdfast::lab::couchbase {

namespace {

constexpr std::string_view default_name = "_default";
constexpr std::uint32_t first_free_id = 8;  // those before are kept for the system
constexpr std::size_t longest_name = 251;
constexpr std::size_t most_collections = 1200;

std::string hexadecimal(std::uint64_t number)
{
    std::string text(16, '\0');
    const auto [end, problem] = std::to_chars(text.data(), text.data() + text.size(), number, 16);
    (void)problem;
    text.resize(static_cast<std::size_t>(end - text.data()));
    return text;
}

bool is_name(std::string_view name)
{
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-' || c == '%';
    };
    return !name.empty() && name.size() <= longest_name && name.front() != '_' &&
           name.front() != '%' && std::ranges::all_of(name, allowed);
}

template <class Entries>
auto find_named(Entries& in, std::string_view name)
{
    return std::ranges::find_if(in, [&](const auto& one) { return one.name == name; });
}

}  // namespace

manifest::manifest() : next_id_{first_free_id}
{
    scope_entry first{0, std::string{default_name}, {}};
    first.collections.push_back({0, std::string{default_name}});
    scopes_.push_back(std::move(first));
}

scope_entry* manifest::find_scope(std::string_view name)
{
    const auto found = find_named(scopes_, name);
    return found == scopes_.end() ? nullptr : &*found;
}

manifest_change manifest::create_scope(std::string_view name)
{
    if (!is_name(name) || scopes_.size() >= most_collections)
        return manifest_change::invalid_name;
    if (find_scope(name))
        return manifest_change::exists;
    scopes_.push_back({next_id_++, std::string{name}, {}});
    ++uid_;
    return manifest_change::done;
}

manifest_change manifest::drop_scope(std::string_view name)
{
    const auto found = find_named(scopes_, name);
    if (found == scopes_.end())
        return manifest_change::no_scope;
    if (name == default_name)
        return manifest_change::invalid_name;
    scopes_.erase(found);
    ++uid_;
    return manifest_change::done;
}

manifest_change manifest::create_collection(std::string_view scope, std::string_view name,
                                            collection_limits limits)
{
    scope_entry* const in = find_scope(scope);
    if (!in)
        return manifest_change::no_scope;
    if (!is_name(name) || in->collections.size() >= most_collections)
        return manifest_change::invalid_name;
    if (find_named(in->collections, name) != in->collections.end())
        return manifest_change::exists;
    in->collections.push_back({next_id_++, std::string{name}, limits});
    ++uid_;
    return manifest_change::done;
}

manifest_change manifest::change_collection(std::string_view scope, std::string_view name,
                                            collection_limits limits)
{
    scope_entry* const in = find_scope(scope);
    if (!in)
        return manifest_change::no_scope;
    const auto found = find_named(in->collections, name);
    if (found == in->collections.end())
        return manifest_change::no_collection;
    if (limits.max_ttl)
        found->limits.max_ttl = limits.max_ttl;
    if (limits.history)
        found->limits.history = limits.history;
    ++uid_;
    return manifest_change::done;
}

manifest_change manifest::drop_collection(std::string_view scope, std::string_view name)
{
    scope_entry* const in = find_scope(scope);
    if (!in)
        return manifest_change::no_scope;
    const auto found = find_named(in->collections, name);
    if (found == in->collections.end())
        return manifest_change::no_collection;
    in->collections.erase(found);
    ++uid_;
    return manifest_change::done;
}

bool manifest::has_collection(std::uint32_t id) const
{
    return find_collection(id) != nullptr;
}

const collection_entry* manifest::find_collection(std::uint32_t id) const
{
    for (const scope_entry& scope : scopes_) {
        const auto found = std::ranges::find(scope.collections, id, &collection_entry::id);
        if (found != scope.collections.end())
            return &*found;
    }
    return nullptr;
}

manifest::found_id manifest::scope_id(std::string_view name) const
{
    const auto found = find_named(scopes_, name.empty() ? default_name : name);
    return found == scopes_.end() ? found_id{kv_status::unknown_scope, 0}
                                  : found_id{kv_status::success, found->id};
}

manifest::found_id manifest::collection_id(std::string_view path) const
{
    const std::size_t dot = path.find('.');
    if (dot == path.npos || path.find('.', dot + 1) != path.npos)
        return {kv_status::invalid, 0};
    const std::string_view scope = dot == 0 ? default_name : path.substr(0, dot);
    const std::string_view name = dot + 1 == path.size() ? default_name : path.substr(dot + 1);
    const auto in = find_named(scopes_, scope);
    if (in == scopes_.end())
        return {kv_status::unknown_scope, 0};
    const auto found = find_named(in->collections, name);
    return found == in->collections.end() ? found_id{kv_status::unknown_collection, 0}
                                          : found_id{kv_status::success, found->id};
}

std::string manifest::uid_text() const
{
    return hexadecimal(uid_);
}

// Names have no character that JSON would escape.
std::string manifest::text() const
{
    std::string json = R"({"uid":")" + uid_text() + R"(","scopes":[)";
    for (std::size_t n = 0; n != scopes_.size(); ++n) {
        const scope_entry& scope = scopes_[n];
        json += std::string{n == 0 ? "" : ","} + R"({"name":")" + scope.name + R"(","uid":")" +
                hexadecimal(scope.id) + R"(","collections":[)";
        for (std::size_t m = 0; m != scope.collections.size(); ++m) {
            const collection_entry& one = scope.collections[m];
            json += std::string{m == 0 ? "" : ","} + R"({"name":")" + one.name + R"(","uid":")" +
                    hexadecimal(one.id) + '"';
            if (one.limits.max_ttl)
                json += R"(,"maxTTL":)" + std::to_string(*one.limits.max_ttl);
            if (one.limits.history)
                json += std::string{R"(,"history":)"} + (*one.limits.history ? "true" : "false");
            json += '}';
        }
        json += "]}";
    }
    return json + "]}";
}

}  // namespace holdfast::lab::couchbase
