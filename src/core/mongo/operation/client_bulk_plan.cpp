#include "core/mongo/operation/client_bulk_plan.hpp"

#include "holdfast/bson/store.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::core::mongo {

using holdfast::mongo::client_bulk_writes;
using holdfast::mongo::details::kept_write;
using holdfast::mongo::details::write_kind;

client_bulk_plan::client_bulk_plan(client_bulk_writes work, id_source& ids)
    : spaces_{work.spaces()}, places_(work.spaces().size(), nowhere)
{
    auto list = std::move(work).take();
    give_ids(list, ids);
    operations_.reserve(list.writes().size());
    for (const kept_write& one : list.writes()) {
        operations_.push_back({bytes_.size(), one.space, one.kind});
        bson::builder out{bytes_};
        write_operation(out, list, one);
    }
}

std::size_t client_bulk_plan::stored_size(std::size_t index) const noexcept
{
    const write_kind kind = operations_[index].kind;
    if (kind == write_kind::insert)
        return operation(index).find("document").value_bytes().size();
    if (kind == write_kind::replace_one)
        return operation(index).find("updateMods").value_bytes().size();
    return 0;
}

std::size_t client_bulk_plan::first_multi(std::size_t begin, std::size_t end) const noexcept
{
    while (begin < end && !is_multi(begin))
        ++begin;
    return begin;
}

bool client_bulk_plan::name(std::uint32_t space)
{
    if (places_[space] != nowhere)
        return false;
    places_[space] = static_cast<std::int32_t>(named_.size());
    named_.push_back(space);
    return true;
}

void client_bulk_plan::forget_names() noexcept
{
    for (const std::uint32_t space : named_)
        places_[space] = nowhere;
    named_.clear();
}

std::size_t client_bulk_plan::fits(std::size_t begin, std::size_t end, std::size_t room,
                                   std::size_t count)
{
    constexpr std::size_t around_name = 4 + 1 + 3 + 4 + 1 + 1;  // {ns: "..."}
    forget_names();
    end = std::min(end - begin, count) + begin;
    std::size_t at = begin;
    for (; at < end; ++at) {
        const kept_operation& one = operations_[at];
        std::size_t size = end_of(at) - one.at;
        if (name(one.space))
            size += around_name + spaces_[one.space].size();
        if (size > room)
            break;
        room -= size;
    }
    return at;
}

void client_bulk_plan::place(std::size_t begin, std::size_t end)
{
    forget_names();
    for (std::size_t i = begin; i < end; ++i) {
        const kept_operation& one = operations_[i];
        name(one.space);
        bson::layout::store(bytes_.data() + one.at + place_in_operation, places_[one.space]);
    }
}

void client_bulk_plan::write(message_builder& to, std::size_t begin, std::size_t end) const
{
    {
        auto operations = to.sequence("ops");
        const std::size_t first = operations_[begin].at;
        operations.append(bytes_.bytes().subspan(first, end_of(end - 1) - first), end - begin);
    }
    auto spaces = to.sequence("nsInfo");
    for (const std::uint32_t space : named_)
        spaces.write([&](bson::builder& out) { out.add("ns", spaces_[space]); });
}

}  // namespace holdfast::core::mongo
