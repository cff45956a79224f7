#include "entities.hpp"

#include <array>
#include <utility>

namespace holdfast::spec::unified {

void document_list::add(bson::document one)
{
    const std::lock_guard lock{mutex};
    documents.push_back(std::move(one));
}

void document_list::clear()
{
    const std::lock_guard lock{mutex};
    documents.clear();
}

bson::document document_list::as_value() const
{
    const std::lock_guard lock{mutex};
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    {
        auto list = out.array("v");
        for (const bson::document& one : documents)
            list.add(one);
    }
    out.finish().value();
    return bson::document::adopt(std::move(bytes));
}

std::string_view kind_of(const entity& e) noexcept
{
    static constexpr std::array<std::string_view, std::variant_size_v<entity>> names{
        "client", "database", "collection", "session",     "cursor",
        "thread", "list",     "topology",   "saved value",
    };
    return names[e.index()];
}

void entities::add(std::string_view id, entity one)
{
    const std::lock_guard lock{mutex_};
    const bool is_new = named_.try_emplace(std::string{id}, std::move(one)).second;
    demand(is_new, "there is an entity of this name already: " + std::string{id});
    order_.emplace_back(id);
}

void entities::save(std::string_view id, bson::element value)
{
    demand(static_cast<bool>(value),
           "the operation gave no result that could be saved as " + std::string{id});
    add(id, std::make_shared<saved_value>(saved_value{bson::doc("v", value)}));
}

const entity& entities::at(std::string_view id) const
{
    const std::lock_guard lock{mutex_};
    const auto found = named_.find(id);
    demand(found != named_.end(), "there is no entity of this name: " + std::string{id});
    return found->second;
}

bson::document entities::value_of(std::string_view id) const
{
    const entity& found = at(id);
    if (const auto* const value = std::get_if<std::shared_ptr<saved_value>>(&found))
        return (*value)->holder;
    if (const auto* const list = std::get_if<std::shared_ptr<document_list>>(&found))
        return (*list)->as_value();
    throw case_failure{"the entity " + std::string{id} + " is a " + std::string{kind_of(found)} +
                       ", which is no BSON value"};
}

std::vector<entity> entities::all() const
{
    const std::lock_guard lock{mutex_};
    std::vector<entity> in_order;
    for (const std::string& id : order_)
        in_order.push_back(named_.find(id)->second);
    return in_order;
}

void entities::wrong_kind(std::string_view id, const entity& found)
{
    throw case_failure{"the entity " + std::string{id} + " is a " + std::string{kind_of(found)} +
                       ", and cannot be used here"};
}

}  // namespace holdfast::spec::unified
