#include "lab/mongo/set/stored_config.hpp"

#include "lab/mongo/set/message_fields.hpp"

#include <string_view>

namespace holdfast::lab::mongo {
namespace {

constexpr std::string_view place = "local.system.replset";

/// The same on every member; it is never used.
constexpr bson::uuid place_id{{0x1a, 0xb0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, 1}};

}  // namespace

std::optional<set_config> stored_config(const disk& on)
{
    const collection* const in = on.data().find(place);
    const auto found = in ? in->next(0) : std::nullopt;
    if (!found)
        return std::nullopt;
    auto read = read_config(found->document);
    if (!read)
        return std::nullopt;
    return *std::move(read);
}

void store_config(disk& on, const set_config& config)
{
    collection* in = on.data().find(place);
    if (!in) {
        auto made = on.data().create(place, place_id, {});
        if (!made)
            return;
        in = *made;
    }
    const bson::document made = document_of([&](bson::builder& out) { write_config(out, config); });
    in->remove_all(on.last().ts);
    (void)in->insert(made.view(), on.last().ts);
}

}  // namespace holdfast::lab::mongo
