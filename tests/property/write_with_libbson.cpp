#include "sample_write.hpp"

#include <stdexcept>

namespace holdfast::property {
namespace {

void write_fields(bson_t* out, const sample_document& d);

bson_oid_t oid(const bson::object_id& id)
{
    bson_oid_t made;
    bson_oid_init_from_data(&made, id.bytes.data());
    return made;
}

int length(const auto& container)
{
    return static_cast<int>(container.size());
}

/// Each call gives libbson's answer, which is false if it refuses the value.
struct libbson_writer {
    bson_t* out;
    const char* key;
    int key_size;

    bool operator()(bson::null) const { return bson_append_null(out, key, key_size); }
    bool operator()(double v) const { return bson_append_double(out, key, key_size, v); }
    bool operator()(const std::string& v) const
    {
        return bson_append_utf8(out, key, key_size, v.data(), length(v));
    }
    bool operator()(const sample_document& v) const
    {
        bson_t nested;
        bson_append_document_begin(out, key, key_size, &nested);
        write_fields(&nested, v);
        return bson_append_document_end(out, &nested);
    }
    bool operator()(const sample_array& v) const
    {
        bson_t nested;
        bson_append_array_begin(out, key, key_size, &nested);
        std::uint32_t index = 0;
        for (const field& item : v.items) {
            const std::string digits = std::to_string(index++);
            if (!std::visit(libbson_writer{&nested, digits.data(), length(digits)}, item.value))
                return false;
        }
        return bson_append_array_end(out, &nested);
    }
    bool operator()(const sample_binary& v) const
    {
        return bson_append_binary(out, key, key_size, static_cast<bson_subtype_t>(v.subtype),
                                  v.bytes.data(), static_cast<std::uint32_t>(v.bytes.size()));
    }
    bool operator()(bson::undefined) const { return bson_append_undefined(out, key, key_size); }
    bool operator()(const bson::object_id& v) const
    {
        const bson_oid_t id = oid(v);
        return bson_append_oid(out, key, key_size, &id);
    }
    bool operator()(bool v) const { return bson_append_bool(out, key, key_size, v); }
    bool operator()(bson::datetime v) const
    {
        return bson_append_date_time(out, key, key_size, v.time_since_epoch().count());
    }
    bool operator()(const sample_regex& v) const
    {
        return bson_append_regex_w_len(out, key, key_size, v.pattern.data(), length(v.pattern),
                                       v.options.c_str());
    }
    bool operator()(const sample_db_pointer& v) const
    {
        const bson_oid_t id = oid(v.id);
        return bson_append_dbpointer(out, key, key_size, v.collection.c_str(), &id);
    }
    bool operator()(const sample_code& v) const
    {
        return bson_append_code(out, key, key_size, v.source.c_str());
    }
    bool operator()(const sample_symbol& v) const
    {
        return bson_append_symbol(out, key, key_size, v.text.data(), length(v.text));
    }
    bool operator()(const sample_code_with_scope& v) const
    {
        const libbson_document scope = write_with_libbson(v.scope);
        return bson_append_code_with_scope(out, key, key_size, v.source.c_str(), scope.get());
    }
    bool operator()(std::int32_t v) const { return bson_append_int32(out, key, key_size, v); }
    bool operator()(bson::timestamp v) const
    {
        return bson_append_timestamp(out, key, key_size, v.seconds, v.increment);
    }
    bool operator()(std::int64_t v) const { return bson_append_int64(out, key, key_size, v); }
    bool operator()(const bson::decimal128& v) const
    {
        const bson_decimal128_t made{v.low, v.high};
        return bson_append_decimal128(out, key, key_size, &made);
    }
    bool operator()(bson::min_key) const { return bson_append_minkey(out, key, key_size); }
    bool operator()(bson::max_key) const { return bson_append_maxkey(out, key, key_size); }
};

void write_fields(bson_t* out, const sample_document& d)
{
    for (const field& f : d.fields)
        if (!std::visit(libbson_writer{out, f.key.data(), length(f.key)}, f.value))
            throw std::runtime_error{"libbson refused a value of the key " + f.key};
}

}  // namespace

libbson_document write_with_libbson(const sample_document& d)
{
    libbson_document out{bson_new()};
    write_fields(out.get(), d);
    return out;
}

}  // namespace holdfast::property
