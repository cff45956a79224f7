#include "borrowed_document.hpp"
#include "by_hand.hpp"
#include "task.hpp"

#include <bson/bson.h>

#include <cstring>

namespace holdfast::bench {

namespace {

bool add(bson_t* out, const char* key, const std::string& text)
{
    return bson_append_utf8(out, key, -1, text.data(), static_cast<int>(text.size()));
}

bool write(bson_t* out, const small_record& r)
{
    return add(out, "oggaoR4O", r.text_1) && add(out, "Vxri7mmI", r.text_2) &&
           add(out, "IQ8K4ZMG", r.text_3) && add(out, "WzI8s1W0", r.text_4) &&
           add(out, "E5Aj2zB3", r.text_5) && add(out, "3MXe8Wi7", r.text_6) &&
           add(out, "PHPSSV51", r.text_7) && BSON_APPEND_INT32(out, "CxSCo4jD", r.number_1) &&
           BSON_APPEND_INT32(out, "5C8GSDC5", r.number_2) &&
           BSON_APPEND_INT32(out, "fC63DsLR", r.number_3) &&
           BSON_APPEND_INT32(out, "l6e0U4bR", r.number_4) &&
           BSON_APPEND_INT32(out, "TLRpkltp", r.number_5) &&
           BSON_APPEND_INT32(out, "Ph9CZN5L", r.number_6);
}

bool write_lines(bson_t* out, const std::vector<order_line>& lines)
{
    char text[16];
    const char* key;
    for (std::uint32_t i = 0; i < lines.size(); ++i) {
        bson_t line;
        bson_uint32_to_string(i, &key, text, sizeof text);
        if (!BSON_APPEND_DOCUMENT_BEGIN(out, key, &line) || !add(&line, "item", lines[i].item) ||
            !BSON_APPEND_INT32(&line, "count", lines[i].count) ||
            !BSON_APPEND_DOUBLE(&line, "price", lines[i].price) ||
            !bson_append_document_end(out, &line))
            return false;
    }
    return true;
}

bool write_tags(bson_t* out, const std::vector<std::string>& tags)
{
    char text[16];
    const char* key;
    for (std::uint32_t i = 0; i < tags.size(); ++i) {
        bson_uint32_to_string(i, &key, text, sizeof text);
        if (!add(out, key, tags[i]))
            return false;
    }
    return true;
}

bool write(bson_t* out, const order& o)
{
    bson_oid_t id;
    std::memcpy(id.bytes, o.id.bytes.data(), sizeof id.bytes);
    bson_t inner;
    return BSON_APPEND_OID(out, "_id", &id) && add(out, "customer", o.customer) &&
           BSON_APPEND_DATE_TIME(out, "placed", o.placed.time_since_epoch().count()) &&
           BSON_APPEND_BOOL(out, "gift", o.gift) && BSON_APPEND_INT64(out, "total", o.total) &&
           (!o.note || add(out, "note", *o.note)) &&
           BSON_APPEND_DOCUMENT_BEGIN(out, "ship_to", &inner) &&
           add(&inner, "street", o.ship_to.street) && add(&inner, "city", o.ship_to.city) &&
           add(&inner, "country", o.ship_to.country) && bson_append_document_end(out, &inner) &&
           BSON_APPEND_ARRAY_BEGIN(out, "lines", &inner) && write_lines(&inner, o.lines) &&
           bson_append_array_end(out, &inner) && BSON_APPEND_ARRAY_BEGIN(out, "tags", &inner) &&
           write_tags(&inner, o.tags) && bson_append_array_end(out, &inner);
}

/// One pass over a document: the first field that matches is taken if it has the right type. Unlike
/// ours, libbson does not look whether text is UTF-8.
class field_reader {
public:
    explicit field_reader(const bson_iter_t& at) : at_{at} {}

    bool next() { return bson_iter_next(&at_); }
    bool is(const char* key) const { return std::strcmp(bson_iter_key(&at_), key) == 0; }
    void seen(bool right, unsigned number) { seen_ |= right ? 1U << number : 0U; }
    bool complete(unsigned required) const { return (seen_ & required) == required; }
    const bson_iter_t* at() const { return &at_; }

    void take(std::string& text, unsigned number)
    {
        if (!BSON_ITER_HOLDS_UTF8(&at_))
            return;
        std::uint32_t size;
        const char* const data = bson_iter_utf8(&at_, &size);
        text.assign(data, size);
        seen(true, number);
    }
    void take(std::int32_t& value, unsigned number)
    {
        if (!BSON_ITER_HOLDS_INT32(&at_))
            return;
        value = bson_iter_int32(&at_);
        seen(true, number);
    }

private:
    bson_iter_t at_;
    unsigned seen_ = 0;
};

bool read(const bson_iter_t& from, small_record& r)
{
    field_reader fields{from};
    while (fields.next()) {
        if (fields.is("oggaoR4O"))
            fields.take(r.text_1, 0);
        else if (fields.is("Vxri7mmI"))
            fields.take(r.text_2, 1);
        else if (fields.is("IQ8K4ZMG"))
            fields.take(r.text_3, 2);
        else if (fields.is("WzI8s1W0"))
            fields.take(r.text_4, 3);
        else if (fields.is("E5Aj2zB3"))
            fields.take(r.text_5, 4);
        else if (fields.is("3MXe8Wi7"))
            fields.take(r.text_6, 5);
        else if (fields.is("PHPSSV51"))
            fields.take(r.text_7, 6);
        else if (fields.is("CxSCo4jD"))
            fields.take(r.number_1, 7);
        else if (fields.is("5C8GSDC5"))
            fields.take(r.number_2, 8);
        else if (fields.is("fC63DsLR"))
            fields.take(r.number_3, 9);
        else if (fields.is("l6e0U4bR"))
            fields.take(r.number_4, 10);
        else if (fields.is("TLRpkltp"))
            fields.take(r.number_5, 11);
        else if (fields.is("Ph9CZN5L"))
            fields.take(r.number_6, 12);
    }
    return fields.complete(0x1FFF);
}

bool read(const bson_iter_t& from, address& a)
{
    field_reader fields{from};
    while (fields.next()) {
        if (fields.is("street"))
            fields.take(a.street, 0);
        else if (fields.is("city"))
            fields.take(a.city, 1);
        else if (fields.is("country"))
            fields.take(a.country, 2);
    }
    return fields.complete(0b111);
}

bool read(const bson_iter_t& from, order_line& line)
{
    field_reader fields{from};
    while (fields.next()) {
        if (fields.is("item"))
            fields.take(line.item, 0);
        else if (fields.is("count"))
            fields.take(line.count, 1);
        else if (fields.is("price") && BSON_ITER_HOLDS_DOUBLE(fields.at())) {
            line.price = bson_iter_double(fields.at());
            fields.seen(true, 2);
        }
    }
    return fields.complete(0b111);
}

bool read_lines(const bson_iter_t* from, std::vector<order_line>& lines)
{
    bson_iter_t items;
    if (!BSON_ITER_HOLDS_ARRAY(from) || !bson_iter_recurse(from, &items))
        return false;
    lines.clear();
    while (bson_iter_next(&items)) {
        bson_iter_t inner;
        if (!BSON_ITER_HOLDS_DOCUMENT(&items) || !bson_iter_recurse(&items, &inner) ||
            !read(inner, lines.emplace_back()))
            return false;
    }
    return true;
}

bool read_tags(const bson_iter_t* from, std::vector<std::string>& tags)
{
    bson_iter_t items;
    if (!BSON_ITER_HOLDS_ARRAY(from) || !bson_iter_recurse(from, &items))
        return false;
    tags.clear();
    while (bson_iter_next(&items)) {
        if (!BSON_ITER_HOLDS_UTF8(&items))
            return false;
        std::uint32_t size;
        const char* const data = bson_iter_utf8(&items, &size);
        tags.emplace_back(data, size);
    }
    return true;
}

/// The fields of an order that are neither text nor nested.
bool read_plain(const field_reader& fields, order& o)
{
    const bson_iter_t* const at = fields.at();
    if (fields.is("_id") && BSON_ITER_HOLDS_OID(at))
        std::memcpy(o.id.bytes.data(), bson_iter_oid(at)->bytes, o.id.bytes.size());
    else if (fields.is("placed") && BSON_ITER_HOLDS_DATE_TIME(at))
        o.placed = bson::datetime{std::chrono::milliseconds{bson_iter_date_time(at)}};
    else if (fields.is("gift") && BSON_ITER_HOLDS_BOOL(at))
        o.gift = bson_iter_bool(at);
    else if (fields.is("total") && BSON_ITER_HOLDS_INT64(at))
        o.total = bson_iter_int64(at);
    else
        return false;
    return true;
}

bool read(const bson_iter_t& from, order& o)
{
    field_reader fields{from};
    unsigned plain = 0;
    bson_iter_t inner;
    while (fields.next()) {
        if (read_plain(fields, o))
            ++plain;
        else if (fields.is("customer"))
            fields.take(o.customer, 0);
        else if (fields.is("note"))
            fields.take(o.note.emplace(), 1);
        else if (fields.is("ship_to"))
            fields.seen(bson_iter_recurse(fields.at(), &inner) && read(inner, o.ship_to), 2);
        else if (fields.is("lines"))
            fields.seen(read_lines(fields.at(), o.lines), 3);
        else if (fields.is("tags"))
            fields.seen(read_tags(fields.at(), o.tags), 4);
    }
    return plain == 4 && fields.complete(0b11101);
}

template <class Record>
class write_task : public task {
public:
    explicit write_task(Record record) : record_{std::move(record)} { bson_init(&made_); }
    write_task(const write_task&) = delete;
    write_task& operator=(const write_task&) = delete;
    ~write_task() override { bson_destroy(&made_); }

    std::uint64_t once() override
    {
        bson_destroy(&made_);
        bson_init(&made_);
        return write(&made_, record_) ? made_.len : 0;
    }
    std::vector<std::uint8_t> outcome() override
    {
        return {bson_get_data(&made_), bson_get_data(&made_) + made_.len};
    }

private:
    Record record_;
    bson_t made_;
};

template <class Record>
class read_task : public task {
public:
    explicit read_task(const input& in) : bytes_{in.bytes} {}

    std::uint64_t once() override
    {
        const borrowed_document document{bytes_};
        bson_iter_t at;
        Record record;
        if (!bson_iter_init(&at, document.get()) || !read(at, record))
            return 0;
        record_ = std::move(record);
        return checksum(record_);
    }
    std::vector<std::uint8_t> outcome() override { return to_bytes(record_); }

private:
    const std::vector<std::uint8_t>& bytes_;
    Record record_;
};

}  // namespace

std::unique_ptr<task> make_libbson_record(std::string_view row, const input& in)
{
    const bool small = in.name == "small_doc";
    if (!small && in.name != "order")
        return nullptr;
    if (row == "struct_write" && small)
        return std::make_unique<write_task<small_record>>(sample_small());
    if (row == "struct_write")
        return std::make_unique<write_task<order>>(sample_order());
    if (row == "struct_read" && small)
        return std::make_unique<read_task<small_record>>(in);
    if (row == "struct_read")
        return std::make_unique<read_task<order>>(in);
    return nullptr;
}

}  // namespace holdfast::bench
