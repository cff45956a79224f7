#include "lab/mongo/set/message_fields.hpp"

namespace holdfast::lab::mongo {

void write_optime(bson::builder& into, std::string_view key, const optime& what)
{
    bson::builder inside = into.document(key);
    inside.add("ts", what.ts).add("t", what.term);
}

optime read_optime(const bson::element& from)
{
    if (from.type() != bson::type::document)
        return {};
    const bson::element ts = from.as_document().find("ts");
    if (ts.type() != bson::type::timestamp)
        return {};
    return {number_or(from.as_document().find("t"), -1), ts.as_timestamp()};
}

std::int64_t number_or(const bson::element& from, std::int64_t otherwise)
{
    if (!from)
        return otherwise;
    const auto value = from.get<std::int64_t>();
    return value ? *value : otherwise;
}

bool flag_or(const bson::element& from, bool otherwise)
{
    if (from.type() == bson::type::boolean)
        return from.as_bool();
    return number_or(from, otherwise ? 1 : 0) != 0;
}

std::string_view text_or(const bson::element& from, std::string_view otherwise)
{
    return from.type() == bson::type::string ? from.as_string() : otherwise;
}

}  // namespace holdfast::lab::mongo
