#include "lab/mongo/storage/catalog.hpp"

#include "lab/mongo/document/server_code.hpp"

#include <malloc.h>

#include <algorithm>
#include <array>
#include <utility>

namespace holdfast::lab {
namespace {

constexpr std::size_t max_namespace = 255;
constexpr std::size_t max_database = 63;

error invalid(std::string_view ns)
{
    return refuse(server_code::invalid_namespace,
                  "Invalid namespace specified '" + std::string{ns} + "'");
}

/// Collections of the system that commands may write to.
bool known_system_collection(std::string_view name)
{
    static constexpr std::array<std::string_view, 8> known = {
        "system.users",   "system.roles", "system.version",  "system.views",
        "system.profile", "system.js",    "system.sessions", "system.keys"};
    return std::ranges::find(known, name) != known.end() || name.starts_with("system.buckets.");
}

/// The allocator keeps what is freed. A lab is left running while loads come and go: after much of
/// it the pages go back to the system.
void give_pages_back([[maybe_unused]] std::int64_t freed)
{
#ifdef __GLIBC__
    constexpr std::int64_t much = std::int64_t{8} * 1024 * 1024;
    if (freed >= much)
        ::malloc_trim(0);
#endif
}

}  // namespace

std::string_view database_of(std::string_view ns) noexcept
{
    return ns.substr(0, ns.find('.'));
}

std::string_view collection_of(std::string_view ns) noexcept
{
    const std::size_t dot = ns.find('.');
    return dot == ns.npos ? std::string_view{} : ns.substr(dot + 1);
}

result<void> check_namespace(std::string_view ns)
{
    const std::string_view database = database_of(ns);
    const std::string_view name = collection_of(ns);
    if (database.empty() || name.empty() || ns.find('\0') != ns.npos)
        return invalid(ns);
    if (database.size() > max_database || database.find_first_of("/\\ \"$") != database.npos)
        return invalid(ns);
    if (name.front() == '.')
        return refuse(server_code::invalid_namespace,
                      "Collection names cannot start with '.': " + std::string{name});
    if (ns.size() > max_namespace)
        return refuse(server_code::invalid_namespace,
                      "Fully qualified namespace is too long. Namespace: " + std::string{ns} +
                          " Max: " + std::to_string(max_namespace));
    if (name.find('$') != name.npos && ns != "local.oplog.$main")
        return refuse(server_code::invalid_namespace,
                      "Invalid collection name: " + std::string{name});
    if (name.starts_with("system.") && database != "config" && database != "local" &&
        !known_system_collection(name))
        return refuse(server_code::invalid_namespace,
                      "Invalid system namespace: " + std::string{ns});
    return {};
}

collection* catalog::find(std::string_view ns)
{
    return const_cast<collection*>(std::as_const(*this).find(ns));
}

const collection* catalog::find(std::string_view ns) const
{
    if (recent_ != nullptr && recent_->ns() == ns)
        return recent_;
    const auto found = collections_.find(ns);
    if (found == collections_.end())
        return nullptr;
    // Each write asks for the oplog too, in between: that must not push out what it is about.
    if (!ns.starts_with("local."))
        recent_ = found->second.get();
    return found->second.get();
}

result<collection*> catalog::create(std::string_view ns, bson::uuid uuid,
                                    collection_options options)
{
    if (auto fine = check_namespace(ns); !fine)
        return std::move(fine).error();
    if (find(ns) != nullptr)
        return refuse(server_code::namespace_exists,
                      "Collection " + std::string{ns} + " already exists.");
    auto made = std::make_unique<collection>(std::string{ns}, uuid, std::move(options));
    collection* const at = made.get();
    collections_.emplace(std::string{ns}, std::move(made));
    return at;
}

bool catalog::drop(std::string_view ns)
{
    const auto found = collections_.find(ns);
    if (found == collections_.end())
        return false;
    recent_ = nullptr;
    const std::int64_t size = found->second->data_size();
    collections_.erase(found);
    give_pages_back(size);
    return true;
}

result<void> catalog::rename(std::string_view from, std::string_view to, bool drop_target)
{
    if (auto fine = check_namespace(to); !fine)
        return fine;
    const auto source = collections_.find(from);
    if (source == collections_.end())
        return refuse(server_code::namespace_not_found,
                      "Source collection " + std::string{from} + " does not exist");
    if (from == to)
        return refuse(server_code::illegal_operation, "Can't rename a collection to itself");
    if (find(to) != nullptr && !drop_target)
        return refuse(server_code::namespace_exists, "target namespace exists");
    recent_ = nullptr;
    auto node = collections_.extract(source);
    node.mapped()->rename(std::string{to});
    node.key() = std::string{to};
    drop(to);
    collections_.insert(std::move(node));
    return {};
}

bool catalog::drop_database(std::string_view database)
{
    recent_ = nullptr;
    std::int64_t size = 0;
    const auto dropped = std::erase_if(collections_, [&](const auto& each) {
        const bool is_in = database_of(each.first) == database;
        size += is_in ? each.second->data_size() : 0;
        return is_in;
    });
    give_pages_back(size);
    return dropped != 0;
}

std::vector<std::string> catalog::databases() const
{
    std::vector<std::string> names;
    for (const auto& [ns, each] : collections_)
        names.emplace_back(database_of(ns));
    // "a-b.c" comes before "a.c", so that a database's collections need not stand together.
    std::ranges::sort(names);
    const auto twice = std::ranges::unique(names);
    names.erase(twice.begin(), twice.end());
    return names;
}

std::vector<const collection*> catalog::collections(std::string_view database) const
{
    std::vector<const collection*> found;
    const std::string prefix = std::string{database} + ".";
    for (auto at = collections_.lower_bound(prefix); at != collections_.end(); ++at) {
        if (!at->first.starts_with(prefix))
            break;
        found.push_back(at->second.get());
    }
    return found;
}

std::vector<collection*> catalog::all()
{
    std::vector<collection*> found;
    found.reserve(collections_.size());
    for (const auto& [ns, each] : collections_)
        found.push_back(each.get());
    return found;
}

void catalog::forget_before(bson::timestamp oldest)
{
    for (const auto& [ns, each] : collections_)
        each->forget_before(oldest);
}

void catalog::clear()
{
    recent_ = nullptr;
    collections_.clear();
}

}  // namespace holdfast::lab
