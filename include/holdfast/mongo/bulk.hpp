#pragma once
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/bson/mapping.hpp"
#include "holdfast/bson/object_id.hpp"
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"
#include "holdfast/mongo/arguments.hpp"
#include "holdfast/options.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Many writes that travel together.
///
///     mongo::bulk_writes work;
///     work.insert_one(ada).update_many(eq("paid", false), set("blocked", true)).delete_one(old);
///     const auto done = co_await accounts.bulk_write(work);
namespace holdfast::mongo {

/// Of an update or a replacement among others.
struct update_model_options {
    std::optional<bool> upsert = {};
    std::optional<bson::view> sort = {};  // not of update_many
    std::optional<bson::array_view> array_filters = {};  // not of replace_one
    std::optional<bson::view> collation = {};
    index_hint hint = {};
};
static_assert(option_struct<update_model_options>);

struct delete_model_options {
    std::optional<bson::view> collation = {};
    index_hint hint = {};
};
static_assert(option_struct<delete_model_options>);

namespace details {

/// BSON, or a described struct that becomes BSON.
template <class T>
concept storable = std::convertible_to<const T&, bson::view> || bson::document_type<T>;

/// Whether a document that is to be inserted has an _id. To look for that is most of what the
/// insertion of many documents costs. Mostly it is the first field, or there is not even an
/// underscore.
inline bool has_id(bson::view document) noexcept
{
    constexpr std::size_t least = 4 + 1 + 4 + 1;  // with an _id
    constexpr std::size_t worth_a_look = 1024;  // the values of a larger one are better skipped
    if (document.size() < least)
        return false;
    const std::uint8_t* const fields = document.data() + 4;
    if (std::memcmp(fields + 1, "_id", 4) == 0)
        return true;
    if (document.size() <= worth_a_look && std::memchr(fields, '_', document.size() - 4) == nullptr)
        return false;
    return static_cast<bool>(document.find("_id"));  // not if malformed: the server will say so
}

/// Removes an _id that is an object_id of zeros. In a struct that is an id which has not been set
/// yet; in BSON that the application has written, it is its own choice.
void remove_unset_id(bson::document& mapped);

/// A struct as a document, or the error of its mapping.
class mapped_document {
public:
    explicit mapped_document(result<bson::document> mapped) : mapped_{std::move(mapped)}
    {
        if (mapped_ && has_id(mapped_->view()))
            remove_unset_id(*mapped_);
    }
    operator document_argument() const noexcept
    {
        return mapped_ ? document_argument{mapped_->view()} : document_argument{mapped_.error()};
    }

private:
    result<bson::document> mapped_;
};

/// What to pass as a document_argument; valid until the end of the expression.
template <storable T>
auto stored(const T& value)
{
    if constexpr (std::convertible_to<const T&, bson::view>)
        return static_cast<bson::view>(value);
    else
        return mapped_document{bson::to_bson(value)};
}

enum class write_kind : std::uint8_t {
    insert,
    update_one,
    update_many,
    replace_one,
    delete_one,
    delete_many,
};

/// One write as it was given; its documents lie in the buffer of those who keep it. Small, because
/// there may be many.
struct kept_write {
    write_kind kind = write_kind::insert;
    bool without_id = false;  // a document that got room for an _id in front
    std::uint32_t space = 0;  // which namespace, of a client's bulk write
    std::uint32_t options = 0;  // which of the list's; an insert has none
    std::size_t change = 0;  // where the document, replacement, update or pipeline begins, plus 1
};

/// Of an update or a delete: where documents begin, plus 1; 0: none.
struct kept_options {
    std::size_t filter = 0;
    std::size_t sort = 0;
    std::size_t array_filters = 0;
    std::size_t collation = 0;
    std::size_t hint = 0;  // {hint: value}
    bool pipeline = false;  // what `change` is
    std::optional<bool> upsert = {};
};

/// Keeps writes; nothing is looked at yet, except that a mistake is remembered, and that a document
/// without an _id gets room for one.
class write_list {
public:
    /// So many documents will be inserted, mostly about as large as the first. Saves moving them.
    void expect(std::size_t count) noexcept { expected_ = count; }
    void insert(std::uint32_t space, document_argument document);
    void insert(std::uint32_t space, bson::view document);
    void insert(std::uint32_t space, const bson::document& document)
    {
        insert(space, document.view());
    }
    void update(write_kind kind, std::uint32_t space, bson::view filter, update_view change,
                const update_model_options& options);
    void remove(write_kind kind, std::uint32_t space, bson::view filter,
                const delete_model_options& options);

    const std::vector<kept_write>& writes() const noexcept { return writes_; }
    /// Then documents lie one behind the other, in their order.
    bool only_inserts() const noexcept { return options_.empty(); }
    const kept_options& options_of(const kept_write& write) const noexcept
    {
        return options_[write.options];
    }
    bson::view at(std::size_t position_plus_1) const noexcept
    {
        return bson::view::trusted(bytes_.data() + position_plus_1 - 1);
    }
    void set_id(const kept_write& of, const bson::object_id& id) noexcept;
    void fail(error why);
    const std::optional<error>& fault() const noexcept { return fault_; }

private:
    std::size_t keep(bson::view document);
    std::size_t keep(const index_hint& hint);
    void add(write_kind kind, std::uint32_t space, std::size_t change, const kept_options& options);
    void make_room(std::size_t bytes);

    std::size_t expected_ = 0;
    bson::byte_buffer bytes_;
    std::vector<kept_write> writes_;
    std::vector<kept_options> options_;
    std::optional<error> fault_;  // the first thing that was wrong
};

/// What to insert: the documents of a range, or a list that is ready.
template <class Documents>
write_list inserts_of(Documents&& documents)
{
    if constexpr (std::same_as<Documents, write_list>) {
        return std::move(documents);
    } else {
        write_list list;
        if constexpr (requires { std::size(documents); })
            list.expect(std::size(documents));
        for (const auto& one : documents)
            list.insert(0, stored(one));
        return list;
    }
}

template <storable... T>
write_list inserts_of_each(const T&... documents)
{
    write_list list;
    list.expect(sizeof...(documents));
    (list.insert(0, stored(documents)), ...);
    return list;
}

}  // namespace details

/// Writes to one collection, in the order in which they are added. If one of them is invalid,
/// the operation fails before anything is sent.
class bulk_writes {
public:
    template <details::storable T>
    bulk_writes& insert_one(const T& document)
    {
        list_.insert(0, details::stored(document));
        return *this;
    }
    bulk_writes& update_one(bson::view filter, update_view change,
                            update_model_options options = {});
    bulk_writes& update_many(bson::view filter, update_view change,
                             update_model_options options = {});
    bulk_writes& replace_one(bson::view filter, bson::view by, update_model_options options = {});
    bulk_writes& delete_one(bson::view filter, delete_model_options options = {});
    bulk_writes& delete_many(bson::view filter, delete_model_options options = {});

    std::size_t size() const noexcept { return list_.writes().size(); }
    const details::write_list& list() const noexcept { return list_; }
    details::write_list take() && noexcept { return std::move(list_); }

private:
    details::write_list list_;
};

/// Writes to any collections of a deployment; needs servers from 8.0 on. A collection is named as
/// "database.collection".
class client_bulk_writes {
public:
    template <details::storable T>
    client_bulk_writes& insert_one(std::string_view in, const T& document)
    {
        list_.insert(space(in), details::stored(document));
        return *this;
    }
    client_bulk_writes& update_one(std::string_view in, bson::view filter, update_view change,
                                   update_model_options options = {});
    client_bulk_writes& update_many(std::string_view in, bson::view filter, update_view change,
                                    update_model_options options = {});
    client_bulk_writes& replace_one(std::string_view in, bson::view filter, bson::view by,
                                    update_model_options options = {});
    client_bulk_writes& delete_one(std::string_view in, bson::view filter,
                                   delete_model_options options = {});
    client_bulk_writes& delete_many(std::string_view in, bson::view filter,
                                    delete_model_options options = {});

    std::size_t size() const noexcept { return list_.writes().size(); }
    const details::write_list& list() const noexcept { return list_; }
    details::write_list take() && noexcept { return std::move(list_); }
    const std::vector<std::string>& spaces() const noexcept { return spaces_; }

private:
    std::uint32_t space(std::string_view name);

    details::write_list list_;
    std::vector<std::string> spaces_;
    std::map<std::string, std::uint32_t, std::less<>> places_;  // of the names in spaces_
};

}  // namespace holdfast::mongo
