#pragma once
#include "core/mongo/operation/bulk_statements.hpp"
#include "core/mongo/wire/message_builder.hpp"
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"
#include "holdfast/mongo/bulk.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::core::mongo {

/// The writes of a client's bulk write as the bulkWrite command has them: operations, one behind
/// the other, and the namespaces that those of one command name by a number.
class client_bulk_plan {
public:
    client_bulk_plan(holdfast::mongo::client_bulk_writes work, id_source& ids);

    std::size_t size() const noexcept { return operations_.size(); }
    bson::view operation(std::size_t index) const noexcept
    {
        return bson::view::trusted(bytes_.data() + operations_[index].at);
    }
    statement_kind kind_of(std::size_t index) const noexcept
    {
        return statement_of(operations_[index].kind);
    }
    const std::string& space_of(std::size_t index) const noexcept
    {
        return spaces_[operations_[index].space];
    }
    /// The namespace of all operations; empty if they have several.
    std::string only_space() const { return spaces_.size() == 1 ? spaces_.front() : std::string{}; }
    /// Of a document that is to be stored as it is: that of an insert or a replacement.
    std::size_t stored_size(std::size_t index) const noexcept;
    bool is_multi(std::size_t index) const noexcept
    {
        return mongo::is_multi(operations_[index].kind);
    }
    /// The first of these that is for many documents; `end` if none is.
    std::size_t first_multi(std::size_t begin, std::size_t end) const noexcept;

    /// Where a batch ends that has so much room for its operations and its namespaces.
    std::size_t fits(std::size_t begin, std::size_t end, std::size_t room, std::size_t count);
    /// Numbers the namespaces of these operations, and them alone.
    void place(std::size_t begin, std::size_t end);
    /// The same bytes each time, until others are placed.
    void write(message_builder& to, std::size_t begin, std::size_t end) const;

private:
    struct kept_operation {
        std::size_t at;
        std::uint32_t space;
        holdfast::mongo::details::write_kind kind;
    };
    static constexpr std::int32_t nowhere = -1;

    /// Whether this namespace is new to the batch; it is not, from then on.
    bool name(std::uint32_t space);
    void forget_names() noexcept;
    std::size_t end_of(std::size_t index) const noexcept
    {
        return index + 1 == operations_.size() ? bytes_.size() : operations_[index + 1].at;
    }

    std::vector<std::string> spaces_;
    std::vector<kept_operation> operations_;
    bson::byte_buffer bytes_;
    std::vector<std::int32_t> places_;  // of each namespace in the batch
    std::vector<std::uint32_t> named_;  // by the batch, in the order of their places
};

}  // namespace holdfast::core::mongo
