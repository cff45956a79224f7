#pragma once
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/bson/document.hpp"
#include "holdfast/error.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// What operations give back when they succeed. Where a write was not to be acknowledged (w: 0),
/// `acknowledged` is false and the rest says nothing.
namespace holdfast::mongo {

/// The _id of a document: one BSON value of any type, owned.
class id_value {
public:
    id_value() = default;
    /// A document whose first field is the value.
    explicit id_value(bson::document holder) noexcept : holder_{std::move(holder)} {}
    explicit id_value(const bson::element& value);

    bson::element value() const noexcept { return holder_.find("_id"); }
    template <class T>
    result<T> get() const
    {
        return value().template get<T>();
    }
    bool empty() const noexcept { return holder_.empty(); }

private:
    bson::document holder_;
};

struct insert_one_result {
    id_value inserted_id;
    bool acknowledged = true;
};

/// The ids of many documents in the order in which they were given, in few bytes.
class id_list {
public:
    void add(const bson::element& id);
    /// The _id of a document; the fastest way if it is the first field.
    void add_from(bson::view document);
    void reserve(std::size_t count);
    std::size_t size() const noexcept { return count_; }
    bson::element operator[](std::size_t index) const noexcept;

private:
    static constexpr std::size_t usual_size = 4 + 1 + 4 + 12 + 1;  // {_id: an object_id}

    void add(std::span<const std::uint8_t> element);
    void add_unusual(std::span<const std::uint8_t> element);
    void begin_unusual();

    bson::byte_buffer bytes_;  // documents {_id: value}, one behind the other
    std::vector<std::uint32_t> starts_;  // nothing: all are of the usual size
    std::size_t count_ = 0;
};

struct insert_many_result {
    std::int64_t inserted_count = 0;
    id_list inserted_ids;  // of all documents that were given
    bool acknowledged = true;
};

struct update_result {
    std::int64_t matched_count = 0;
    std::int64_t modified_count = 0;
    std::int64_t upserted_count = 0;
    std::optional<id_value> upserted_id = {};
    bool acknowledged = true;
};

struct delete_result {
    std::int64_t deleted_count = 0;
    bool acknowledged = true;
};

struct bulk_write_result {
    std::int64_t inserted_count = 0;
    std::int64_t matched_count = 0;
    std::int64_t modified_count = 0;
    std::int64_t deleted_count = 0;
    std::int64_t upserted_count = 0;
    std::map<std::int64_t, id_value> inserted_ids = {};  // by the place of the write
    std::map<std::int64_t, id_value> upserted_ids = {};
    bool acknowledged = true;
};

/// Of a client's bulk write; the maps are filled if verbose results were asked for.
struct client_bulk_write_result {
    std::int64_t inserted_count = 0;
    std::int64_t matched_count = 0;
    std::int64_t modified_count = 0;
    std::int64_t deleted_count = 0;
    std::int64_t upserted_count = 0;
    std::map<std::int64_t, insert_one_result> insert_results = {};
    std::map<std::int64_t, update_result> update_results = {};
    std::map<std::int64_t, delete_result> delete_results = {};
    bool acknowledged = true;
    bool verbose = false;
};

}  // namespace holdfast::mongo
