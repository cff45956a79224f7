#pragma once
#include "core/mongo/operation/bulk.hpp"
#include "core/mongo/operation/bulk_statements.hpp"
#include "core/mongo/wire/message_builder.hpp"
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"
#include "holdfast/mongo/bulk.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace holdfast::core::mongo {

/// The writes to one collection as statements, in the order in which they are sent. A position is a
/// place in that order, an index one in the application's own.
class bulk_plan {
public:
    /// Statements that may share a command: up to the position `end`.
    struct group {
        statement_kind kind;
        std::size_t end;
    };

    bulk_plan(holdfast::mongo::details::write_list list, bool ordered);

    const std::vector<group>& groups() const noexcept { return groups_; }
    std::size_t size() const noexcept { return list_.writes().size(); }
    std::size_t index_of(std::size_t position) const noexcept
    {
        return order_.empty() ? position : order_[position];
    }
    bson::view statement(std::size_t position) const noexcept
    {
        return bson::view::trusted(data(piece_at(position)));
    }
    bool has_hint(statement_kind kind) const noexcept;
    bool is_multi(std::size_t position) const noexcept { return piece_at(position).multi; }
    /// The first of these that is for many documents; `end` if none is.
    std::size_t first_multi(std::size_t begin, std::size_t end) const noexcept;

    /// Where a batch ends that begins at `begin` and has so much room. What is too large alone does
    /// not fit.
    std::size_t fits(std::size_t begin, std::size_t end, std::size_t room,
                     std::size_t count) const noexcept;
    /// The first of these statements that is larger than `limit`; `end` if none is.
    std::size_t too_large(std::size_t begin, std::size_t end, std::size_t limit) const noexcept;
    void write(document_sequence& to, std::size_t begin, std::size_t end) const;

private:
    struct piece {
        std::size_t at;
        std::uint32_t size;
        bool written;  // lies in written_, not where the application's documents lie
        bool multi;
    };

    void arrange(bool ordered);
    void add(const holdfast::mongo::details::kept_write& from);
    piece piece_at(std::size_t position) const noexcept
    {
        return pieces_.empty() ? inserted(list_.writes()[position]) : pieces_[position];
    }
    piece inserted(const holdfast::mongo::details::kept_write& document) const noexcept
    {
        return {document.change - 1, static_cast<std::uint32_t>(list_.at(document.change).size()),
                false, false};
    }
    std::size_t extent(std::size_t begin, std::size_t end) const noexcept;
    const std::uint8_t* data(const piece& of) const noexcept
    {
        return (of.written ? written_.data() : list_.at(1).data()) + of.at;
    }

    const holdfast::mongo::details::write_list list_;
    std::vector<group> groups_;
    std::vector<std::size_t> order_;  // nothing: as they were given
    std::vector<piece> pieces_;  // nothing: only documents to be inserted
    bson::byte_buffer written_;  // statements of updates and deletes
};

}  // namespace holdfast::core::mongo
