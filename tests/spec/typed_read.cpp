#include "typed_read.hpp"

#include "case_fields.hpp"
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/errc.hpp"

namespace holdfast::spec {
namespace {

using bson::element;

template <class T>
T read(const element& e)
{
    auto value = e.get<T>();
    demand(value.has_value(), value ? "" : "typed read: " + value.error().explain());
    return *std::move(value);
}

template <class T>
void refuse(const element& e)
{
    const auto value = e.get<T>();
    demand(!value && value.error().code() == bson::errc::wrong_type,
           "a typed read as another type than " + std::string{name_of(e.type())} + " succeeded");
}

void read_value(const element& e)
{
    switch (e.type()) {
    case bson::type::double_:
        read<double>(e);
        break;
    case bson::type::string:
        read<std::string>(e);
        break;
    case bson::type::document:
        read_all(read<bson::view>(e));
        break;
    case bson::type::array:
        read_all(read<bson::array_view>(e).as_document());
        break;
    case bson::type::binary:
        read<bson::binary>(e);
        break;
    case bson::type::undefined:
        read<bson::undefined>(e);
        break;
    case bson::type::object_id:
        read<bson::object_id>(e);
        break;
    case bson::type::boolean:
        read<bool>(e);
        break;
    case bson::type::datetime:
        read<bson::datetime>(e);
        break;
    case bson::type::null:
        read<bson::null>(e);
        break;
    case bson::type::regex:
        read<bson::regex>(e);
        break;
    case bson::type::db_pointer:
        read<bson::db_pointer>(e);
        break;
    case bson::type::code:
        read<bson::code>(e);
        break;
    case bson::type::symbol:
        read<bson::symbol>(e);
        break;
    case bson::type::code_with_scope:
        read_all(read<bson::code_with_scope>(e).scope);
        break;
    case bson::type::int32:
        read<std::int32_t>(e);
        break;
    case bson::type::timestamp:
        read<bson::timestamp>(e);
        break;
    case bson::type::int64:
        read<std::int64_t>(e);
        break;
    case bson::type::decimal128:
        read<bson::decimal128>(e);
        break;
    case bson::type::max_key:
        read<bson::max_key>(e);
        break;
    case bson::type::min_key:
        read<bson::min_key>(e);
        break;
    case bson::type::invalid:
        demand(false, "typed read: " + e.mismatch("a value").explain());
    }
}

}  // namespace

void read_all(bson::view document)
{
    for (const element& e : document) {
        read_value(e);
        if (e.type() == bson::type::min_key)
            refuse<bson::max_key>(e);
        else
            refuse<bson::min_key>(e);
        const element found = document.find(e.key());
        demand(found && found.key() == e.key(), "a key that was seen is not found again");
    }
}

}  // namespace holdfast::spec
