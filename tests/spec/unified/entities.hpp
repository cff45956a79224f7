#pragma once
#include "../case_fields.hpp"
#include "holdfast/bson/document.hpp"
#include "holdfast/mongo/description.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace holdfast::spec::unified {

/// What a case has given names to. The kinds that stand on the public API are defined by those who
/// carry out operations; the checks need to know no more of them than this.
struct client_entity;
struct database_entity;
struct collection_entity;
struct cursor_entity;  // of a find or a command
struct thread_entity;

struct session_entity {
    virtual ~session_entity() = default;
    virtual bson::document lsid() const = 0;  // {id: UUID}; still known when the session has ended
};

/// One BSON value: the result of an operation, kept as {v: value}.
struct saved_value {
    bson::document holder;
    bson::element value() const noexcept { return holder.find("v"); }
};

/// A list that grows while the case runs: "storeEventsAsEntities", and what a loop gathers.
struct document_list {
    mutable std::mutex mutex;
    std::vector<bson::document> documents;

    void add(bson::document one);
    void clear();
    bson::document as_value() const;  // {v: [...]}
};

/// What "recordTopologyDescription" has kept.
struct topology_entity {
    mongo::topology_description description;
};

using entity = std::variant<std::shared_ptr<client_entity>, std::shared_ptr<database_entity>,
                            std::shared_ptr<collection_entity>, std::shared_ptr<session_entity>,
                            std::shared_ptr<cursor_entity>, std::shared_ptr<thread_entity>,
                            std::shared_ptr<document_list>, std::shared_ptr<topology_entity>,
                            std::shared_ptr<saved_value>>;

/// "client", "database", ... for messages.
std::string_view kind_of(const entity& e) noexcept;

/// The names of one case. Used by all its threads; entities are never removed, so that a reference
/// stays good.
class entities {
public:
    /// Throws case_failure if there is one of that name already.
    void add(std::string_view id, entity one);
    void save(std::string_view id, bson::element value);  // the result of an operation

    /// Throws case_failure if there is none of this name, or it is of another kind.
    template <class T>
    T& get(std::string_view id) const
    {
        const entity& found = at(id);
        if (const auto* const right = std::get_if<std::shared_ptr<T>>(&found))
            return **right;
        wrong_kind(id, found);
    }
    template <class T>
    std::shared_ptr<T> share(std::string_view id) const
    {
        const entity& found = at(id);
        if (const auto* const right = std::get_if<std::shared_ptr<T>>(&found))
            return *right;
        wrong_kind(id, found);
    }
    const entity& at(std::string_view id) const;

    /// The value for "$$matchesEntity": {v: value}.
    bson::document value_of(std::string_view id) const;

    /// In the order in which they were made, so that they can be closed in the other.
    std::vector<entity> all() const;

private:
    [[noreturn]] static void wrong_kind(std::string_view id, const entity& found);

    mutable std::mutex mutex_;
    std::map<std::string, entity, std::less<>> named_;
    std::vector<std::string> order_;
};

}  // namespace holdfast::spec::unified
