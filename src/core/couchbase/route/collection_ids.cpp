#include "core/couchbase/route/collection_ids.hpp"

#include "holdfast/couchbase/errc.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::core::couchbase {

namespace {

constexpr std::string_view default_path = "_default._default";  // has the id 0 in every bucket

/// The server's rule: up to 251 letters, digits and characters of "_-%", without '%' as the first.
/// Names that begin with '_' are made by the server alone, but may be used.
bool is_collection_name(std::string_view name) noexcept
{
    return !name.empty() && name.size() <= longest_collection_name && name.front() != '%' &&
           std::ranges::all_of(name, [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '-' || c == '%';
           });
}

error bad_collection_name(std::string_view which)
{
    return error{holdfast::couchbase::errc::invalid_argument,
                 "the name of a " + std::string{which} +
                     " has 1 to 251 letters, digits, or characters of '_-%', and '%' is not the "
                     "first"};
}

}  // namespace

result<std::string> collection_path(std::string_view scope, std::string_view collection)
{
    if (!is_collection_name(scope))
        return bad_collection_name("scope");
    if (!is_collection_name(collection))
        return bad_collection_name("collection");
    return std::string{scope} + '.' + std::string{collection};
}

std::optional<collection_step> collection_ids::answer_of(entry& settled, waiter_id who) const
{
    if (settled.generation != generation_)
        return std::nullopt;
    if (const auto* is = std::get_if<known>(&settled.state))
        return use_id{is->id};
    auto* is_not = std::get_if<unknown>(&settled.state);
    if (!is_not || is_not->unread_by.erase(who) == 0)
        return std::nullopt;
    if (is_not->manifest_uid < newest_manifest_)
        return server_is_behind{};
    return name_is_unknown{is_not->what};
}

std::optional<std::uint32_t> collection_ids::known_id(std::string_view path) const noexcept
{
    if (path == default_path)
        return 0;
    const auto found = entries_.find(path);
    if (found == entries_.end() || found->second.generation != generation_)
        return std::nullopt;
    const auto* const is = std::get_if<known>(&found->second.state);
    return is ? std::optional{is->id} : std::nullopt;
}

/// A full table is begun anew: that is rare, and then a look-up per collection is cheap.
bool collection_ids::make_capacity()
{
    if (entries_.size() >= max_collections) {
        ++version_;
        std::erase_if(entries_, [](const auto& one) {
            return !std::holds_alternative<looking_up>(one.second.state);
        });
    }
    return entries_.size() < max_collections;
}

collection_step collection_ids::ask(std::string_view path, waiter_id who)
{
    if (path == default_path)
        return use_id{0};
    const auto found = entries_.find(path);
    if (found == entries_.end()) {
        if (!make_capacity())
            return too_many_waiters{};
        entries_.emplace(path, entry{looking_up{who}, generation_});
        return look_up{};
    }
    if (auto* under_way = std::get_if<looking_up>(&found->second.state)) {
        if (under_way->waiters.size() >= max_collection_waiters)
            return too_many_waiters{};
        under_way->waiters.insert(who);
        return wait_for_look_up{};
    }
    if (const auto answer = answer_of(found->second, who))
        return *answer;
    found->second = entry{looking_up{who}, generation_};
    return look_up{};
}

std::vector<waiter_id> collection_ids::settle(std::string_view path,
                                              std::optional<std::variant<known, unknown>> with)
{
    const auto at = entries_.find(path);
    if (at == entries_.end())
        return {};
    auto* under_way = std::get_if<looking_up>(&at->second.state);
    if (!under_way)
        return {};
    std::vector<waiter_id> waiters(under_way->waiters.begin(), under_way->waiters.end());
    if (!with || at->second.generation != generation_) {
        entries_.erase(at);
        return waiters;
    }
    if (auto* is_not = std::get_if<unknown>(&*with)) {
        is_not->unread_by = std::move(under_way->waiters);
        is_not->unread_by.insert(under_way->by);
    }
    const auto keep = [&](auto& answer) {
        manifest_seen(answer.manifest_uid);
        at->second.state = std::move(answer);
    };
    std::visit(keep, *with);
    return waiters;
}

std::vector<waiter_id> collection_ids::found(std::string_view path, std::uint32_t id,
                                             std::uint64_t manifest_uid)
{
    return settle(path, known{id, manifest_uid});
}

std::vector<waiter_id> collection_ids::not_found(std::string_view path, unknown_name what,
                                                 std::optional<std::uint64_t> manifest_uid)
{
    return settle(path, unknown{what, manifest_uid.value_or(newest_manifest_), {}});
}

std::vector<waiter_id> collection_ids::failed(std::string_view path)
{
    return settle(path, std::nullopt);
}

void collection_ids::forget(std::string_view path, waiter_id who)
{
    const auto at = entries_.find(path);
    if (at == entries_.end())
        return;
    if (auto* under_way = std::get_if<looking_up>(&at->second.state))
        under_way->waiters.erase(who);
    else if (auto* is_not = std::get_if<unknown>(&at->second.state))
        is_not->unread_by.erase(who);
}

bool collection_ids::outdated(std::string_view path, std::uint32_t used,
                              std::optional<std::uint64_t> server_manifest_uid)
{
    const auto at = entries_.find(path);
    if (at == entries_.end())
        return path != default_path;
    const auto* in_use = std::get_if<known>(&at->second.state);
    if (!in_use || in_use->id != used)
        return true;
    if (server_manifest_uid && *server_manifest_uid < in_use->manifest_uid)
        return false;
    if (server_manifest_uid && at->second.generation == generation_)
        manifest_seen(*server_manifest_uid);
    entries_.erase(at);
    ++version_;
    return true;
}

void collection_ids::manifest_seen(std::uint64_t uid) noexcept
{
    newest_manifest_ = std::max(newest_manifest_, uid);
}

void collection_ids::bucket_recreated() noexcept
{
    ++generation_;
    ++version_;
    newest_manifest_ = 0;  // the new bucket counts anew
}

}  // namespace holdfast::core::couchbase
