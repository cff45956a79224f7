#include "core/mongo/operation/bulk_plan.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace holdfast::core::mongo {

using holdfast::mongo::details::kept_write;
using holdfast::mongo::details::write_kind;
using holdfast::mongo::details::write_list;

bulk_plan::bulk_plan(write_list list, bool ordered) : list_{std::move(list)}
{
    if (list_.only_inserts()) {
        groups_.push_back({statement_kind::insert, size()});
        return;
    }
    arrange(ordered);
    pieces_.reserve(list_.writes().size());
    for (std::size_t i = 0; i < list_.writes().size(); ++i)
        add(list_.writes()[index_of(i)]);
}

/// Groups of one kind: of neighbours if the order counts.
void bulk_plan::arrange(bool ordered)
{
    const std::vector<kept_write>& all = list_.writes();
    for (std::size_t i = 0; i < all.size(); ++i) {
        const statement_kind kind = statement_of(all[i].kind);
        if (groups_.empty() || groups_.back().kind != kind)
            groups_.push_back({kind, i});
        groups_.back().end = i + 1;
    }
    if (ordered || groups_.size() == 1)
        return;
    groups_.clear();
    order_.reserve(all.size());
    for (const statement_kind kind :
         {statement_kind::insert, statement_kind::update, statement_kind::remove}) {
        const std::size_t before = order_.size();
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (statement_of(all[i].kind) == kind)
                order_.push_back(i);
        }
        if (order_.size() != before)
            groups_.push_back({kind, order_.size()});
    }
}

void bulk_plan::add(const kept_write& from)
{
    if (from.kind == write_kind::insert)
        return pieces_.push_back(inserted(from));
    const std::size_t at = written_.size();
    {
        bson::builder statement{written_};
        write_statement(statement, list_, from);
    }
    const auto size = static_cast<std::uint32_t>(written_.size() - at);
    pieces_.push_back({at, size, true, mongo::is_multi(from.kind)});
}

bool bulk_plan::has_hint(statement_kind kind) const noexcept
{
    return std::ranges::any_of(list_.writes(), [&](const kept_write& one) {
        return statement_of(one.kind) == kind && list_.options_of(one).hint != 0;
    });
}

std::size_t bulk_plan::first_multi(std::size_t begin, std::size_t end) const noexcept
{
    while (begin < end && !piece_at(begin).multi)
        ++begin;
    return begin;
}

/// How many bytes these take if they lie one behind the other: not known of all statements.
std::size_t bulk_plan::extent(std::size_t begin, std::size_t end) const noexcept
{
    if (!pieces_.empty() || begin == end)
        return begin == end ? 0 : SIZE_MAX;
    const piece last = piece_at(end - 1);
    return last.at + last.size - piece_at(begin).at;
}

std::size_t bulk_plan::fits(std::size_t begin, std::size_t end, std::size_t room,
                            std::size_t count) const noexcept
{
    end = std::min(end - begin, count) + begin;
    if (extent(begin, end) <= room)
        return end;
    for (; begin < end && piece_at(begin).size <= room; ++begin)
        room -= piece_at(begin).size;
    return begin;
}

std::size_t bulk_plan::too_large(std::size_t begin, std::size_t end,
                                 std::size_t limit) const noexcept
{
    if (extent(begin, end) <= limit)
        return end;  // not even all of them together
    while (begin < end && piece_at(begin).size <= limit)
        ++begin;
    return begin;
}

void bulk_plan::write(document_sequence& to, std::size_t begin, std::size_t end) const
{
    if (pieces_.empty())
        return to.append({data(piece_at(begin)), extent(begin, end)}, end - begin);
    while (begin < end) {
        // What lies together is copied together.
        const piece& first = pieces_[begin];
        std::size_t size = first.size;
        std::size_t next = begin + 1;
        while (next < end && pieces_[next].written == first.written &&
               pieces_[next].at == first.at + size)
            size += pieces_[next++].size;
        to.append({data(first), size}, next - begin);
        begin = next;
    }
}

}  // namespace holdfast::core::mongo
