#include "sample_write.hpp"

namespace holdfast::property {
namespace {

void write_fields(bson::builder& out, const sample_document& d);

struct our_writer {
    bson::builder& out;
    std::string_view key;

    void operator()(const auto& plain) const { out.add(key, plain); }
    void operator()(const sample_document& v) const
    {
        auto nested = out.document(key);
        write_fields(nested, v);
    }
    void operator()(const sample_array& v) const
    {
        auto nested = out.array(key);
        for (const field& item : v.items)
            std::visit(our_writer{nested.elements(), nested.next_key()}, item.value);
    }
    void operator()(const sample_binary& v) const
    {
        out.add(key, bson::binary{v.bytes, v.subtype});
    }
    void operator()(const sample_regex& v) const
    {
        out.add(key, bson::regex{v.pattern, v.options});
    }
    void operator()(const sample_code& v) const { out.add(key, bson::code{v.source}); }
    void operator()(const sample_symbol& v) const { out.add(key, bson::symbol{v.text}); }
    void operator()(const sample_db_pointer& v) const
    {
        out.add(key, bson::db_pointer{v.collection, v.id});
    }
    void operator()(const sample_code_with_scope& v) const
    {
        const bson::document scope = write_with_ours(v.scope);
        out.add(key, bson::code_with_scope{v.source, scope});
    }
};

void write_fields(bson::builder& out, const sample_document& d)
{
    for (const field& f : d.fields)
        std::visit(our_writer{out, f.key}, f.value);
}

}  // namespace

bson::document write_with_ours(const sample_document& d)
{
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    write_fields(out, d);
    out.finish().value();
    return bson::document::adopt(std::move(bytes));
}

}  // namespace holdfast::property
