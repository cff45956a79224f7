#pragma once
#include "lab/mongo/storage/collection.hpp"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab {

/// All databases and their collections, by name.
class catalog {
public:
    collection* find(std::string_view ns);
    const collection* find(std::string_view ns) const;

    /// 48 NamespaceExists, 73 InvalidNamespace.
    result<collection*> create(std::string_view ns, bson::uuid uuid, collection_options options);
    bool drop(std::string_view ns);  // false if there is none
    /// Of one collection to another name. 26, 48 (unless `drop_target`), 73.
    result<void> rename(std::string_view from, std::string_view to, bool drop_target);
    bool drop_database(std::string_view database);

    std::vector<std::string> databases() const;  // those with collections, in order
    std::vector<const collection*> collections(std::string_view database) const;  // by name
    std::vector<collection*> all();

    void forget_before(bson::timestamp oldest);
    void clear();

private:
    std::map<std::string, std::unique_ptr<collection>, std::less<>> collections_;  // by "db.name"
    mutable collection* recent_ = nullptr;  // found last: one command asks for it several times
};

/// "db.collection" is allowed: MongoDB's rules for names, its words, code 73.
result<void> check_namespace(std::string_view ns);
std::string_view database_of(std::string_view ns) noexcept;
std::string_view collection_of(std::string_view ns) noexcept;

}  // namespace holdfast::lab
