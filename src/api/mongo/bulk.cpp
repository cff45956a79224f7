#include "holdfast/mongo/bulk.hpp"

#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/store.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace holdfast::mongo {

namespace details {

namespace {

constexpr std::size_t id_size = 1 + 4 + 12;  // an element: type, "_id", the value

}  // namespace

void remove_unset_id(bson::document& mapped)
{
    const bson::element id = mapped.find("_id");
    if (!id || id.type() != bson::type::object_id || id.as_object_id() != bson::object_id{})
        return;
    bson::byte_buffer bytes;
    bson::builder rest{bytes};
    for (const bson::element& one : mapped) {
        if (one.key() != "_id")
            rest.copy(one);
    }
    if (rest.finish())
        mapped = bson::document::adopt(std::move(bytes));
}

std::size_t write_list::keep(bson::view document)
{
    const std::size_t at = bytes_.size();
    std::memcpy(bytes_.grow(document.size()), document.data(), document.size());
    return at + 1;
}

/// Makes room for all that is expected or, if that is unknown, grows in large steps at first, so
/// that what is kept is moved at most once or twice.
void write_list::make_room(std::size_t bytes)
{
    constexpr std::size_t first_bytes = std::size_t{16} * 1024;
    constexpr std::size_t first_writes = 256;
    constexpr std::size_t many_bytes = std::size_t{1} << 20;
    constexpr std::size_t many_writes = 100'000;  // no server takes more at once
    const std::size_t step = bytes_.capacity() < many_bytes ? 8 : 2;
    const std::size_t count = std::min(expected_, many_writes);
    if (bytes_.capacity() - bytes_.size() < bytes)
        bytes_.reserve(std::max({first_bytes, step * bytes_.capacity(), bytes_.size() + bytes,
                                 std::min(count * bytes, 4 * many_bytes)}));
    if (writes_.size() == writes_.capacity())
        writes_.reserve(std::max({first_writes, step * writes_.capacity(), count}));
}

void write_list::insert(std::uint32_t space, document_argument argument)
{
    if (argument.mapping_error() == nullptr)
        insert(space, argument.view());
    else
        fail(*argument.mapping_error());
}

void write_list::insert(std::uint32_t space, bson::view document)
{
    const bool without_id = !has_id(document);
    const std::size_t size = document.size() + (without_id ? id_size : 0);
    if (bytes_.capacity() - bytes_.size() < size || writes_.size() == writes_.capacity())
        make_room(size);
    writes_.push_back({.kind = write_kind::insert,
                       .without_id = without_id,
                       .space = space,
                       .change = bytes_.size() + 1});
    std::uint8_t* to = bytes_.grow(size);
    to = bson::layout::store(to, static_cast<std::uint32_t>(size));
    if (without_id) {
        *to++ = static_cast<std::uint8_t>(bson::type::object_id);
        to = bson::layout::store_bytes(to, "_id", 4);
        to = bson::layout::store(to, bson::object_id{}.bytes);
    }
    std::memcpy(to, document.data() + 4, document.size() - 4);
}

void write_list::set_id(const kept_write& of, const bson::object_id& id) noexcept
{
    bson::layout::store(bytes_.data() + of.change - 1 + 4 + 1 + 4, id.bytes);
}

void write_list::add(write_kind kind, std::uint32_t space, std::size_t change,
                     const kept_options& options)
{
    kept_write& one = writes_.emplace_back();
    one.kind = kind;
    one.space = space;
    one.options = static_cast<std::uint32_t>(options_.size());
    one.change = change;
    options_.push_back(options);
}

void write_list::update(write_kind kind, std::uint32_t space, bson::view filter, update_view change,
                        const update_model_options& options)
{
    kept_options kept{.filter = keep(filter)};
    if (options.sort)
        kept.sort = keep(*options.sort);
    if (options.array_filters)
        kept.array_filters = keep(options.array_filters->as_document());
    if (options.collation)
        kept.collation = keep(*options.collation);
    if (!options.hint.empty())
        kept.hint = keep(options.hint);
    kept.pipeline = change.is_pipeline();
    kept.upsert = options.upsert;
    add(kind, space, keep(change.what()), kept);
}

void write_list::remove(write_kind kind, std::uint32_t space, bson::view filter,
                        const delete_model_options& options)
{
    kept_options kept{.filter = keep(filter)};
    if (options.collation)
        kept.collation = keep(*options.collation);
    if (!options.hint.empty())
        kept.hint = keep(options.hint);
    add(kind, space, 0, kept);
}

std::size_t write_list::keep(const index_hint& hint)
{
    const std::size_t at = bytes_.size();
    bson::builder out{bytes_};
    hint.write(out, "hint");
    return at + 1;
}

void write_list::fail(error why)
{
    if (!fault_)
        fault_ = std::move(why);
}

}  // namespace details

using details::write_kind;

bulk_writes& bulk_writes::update_one(bson::view filter, update_view change,
                                     update_model_options options)
{
    list_.update(write_kind::update_one, 0, filter, change, options);
    return *this;
}

bulk_writes& bulk_writes::update_many(bson::view filter, update_view change,
                                      update_model_options options)
{
    list_.update(write_kind::update_many, 0, filter, change, options);
    return *this;
}

bulk_writes& bulk_writes::replace_one(bson::view filter, bson::view by,
                                      update_model_options options)
{
    list_.update(write_kind::replace_one, 0, filter, by, options);
    return *this;
}

bulk_writes& bulk_writes::delete_one(bson::view filter, delete_model_options options)
{
    list_.remove(write_kind::delete_one, 0, filter, options);
    return *this;
}

bulk_writes& bulk_writes::delete_many(bson::view filter, delete_model_options options)
{
    list_.remove(write_kind::delete_many, 0, filter, options);
    return *this;
}

client_bulk_writes& client_bulk_writes::update_one(std::string_view in, bson::view filter,
                                                   update_view change, update_model_options options)
{
    list_.update(write_kind::update_one, space(in), filter, change, options);
    return *this;
}

client_bulk_writes& client_bulk_writes::update_many(std::string_view in, bson::view filter,
                                                    update_view change,
                                                    update_model_options options)
{
    list_.update(write_kind::update_many, space(in), filter, change, options);
    return *this;
}

client_bulk_writes& client_bulk_writes::replace_one(std::string_view in, bson::view filter,
                                                    bson::view by, update_model_options options)
{
    list_.update(write_kind::replace_one, space(in), filter, by, options);
    return *this;
}

client_bulk_writes& client_bulk_writes::delete_one(std::string_view in, bson::view filter,
                                                   delete_model_options options)
{
    list_.remove(write_kind::delete_one, space(in), filter, options);
    return *this;
}

client_bulk_writes& client_bulk_writes::delete_many(std::string_view in, bson::view filter,
                                                    delete_model_options options)
{
    list_.remove(write_kind::delete_many, space(in), filter, options);
    return *this;
}

std::uint32_t client_bulk_writes::space(std::string_view name)
{
    if (const auto known = places_.find(name); known != places_.end())
        return known->second;
    const auto place = static_cast<std::uint32_t>(spaces_.size());
    spaces_.emplace_back(name);
    places_.emplace(name, place);
    return place;
}

}  // namespace holdfast::mongo
