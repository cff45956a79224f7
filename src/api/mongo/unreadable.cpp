#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/json.hpp"
#include "holdfast/mongo/cursor.hpp"

#include <boost/core/demangle.hpp>

#include <string>
#include <utility>

namespace holdfast::mongo::details {

namespace {

/// {"_id": 7}, or nothing.
std::string id_text(bson::view document)
{
    const bson::element id = document.find("_id");
    if (!id)
        return {};
    bson::byte_buffer bytes;
    bson::builder holder{bytes};
    holder.copy(id);
    const auto made = holder.finish();
    auto text = made ? bson::to_json(*made) : result<std::string>{std::string{}};
    return text ? *std::move(text) : std::string{};
}

}  // namespace

error unreadable(error why, const std::type_info& as, bson::view document, std::string space)
{
    std::string operation = "read";
    if (!space.empty())
        operation += " from " + space;
    if (const std::string id = id_text(document); !id.empty())
        operation += " of " + id;
    operation += " as " + boost::core::demangle(as.name());
    return std::move(why)
        .with_context("operation", std::move(operation))
        .with_context("namespace", std::move(space));
}

}  // namespace holdfast::mongo::details
