#include "holdfast/mongo/update.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace holdfast::mongo::details {

/// Operators in the order in which they are first said, and the same for their fields.
bson::document combine(std::span<const bson::view> updates)
{
    std::vector<std::string_view> operators;
    for (const bson::view update : updates) {
        for (const bson::element& one : update) {
            if (std::ranges::find(operators, one.key()) == operators.end())
                operators.push_back(one.key());
        }
    }
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    for (const std::string_view name : operators) {
        bson::builder fields = out.document(name);
        for (const bson::view update : updates) {
            for (const bson::element& one : update) {
                if (one.key() == name && one.type() == bson::type::document)
                    fields.merge(one.as_document());
                else if (one.key() == name)
                    fields.fail(bson::errc::wrong_type, name);
            }
        }
    }
    out.finish().value();
    return bson::document::adopt(std::move(bytes));
}

}  // namespace holdfast::mongo::details
