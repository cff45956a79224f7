#include "by_hand.hpp"

#include "holdfast/bson/view.hpp"
#include "record_task.hpp"

namespace holdfast::bench {

namespace {

/// Collects the fields of one struct: what went wrong first, and which fields were there.
class field_reader {
public:
    template <class T>
    void take(const bson::element& e, T& field, unsigned number)
    {
        auto value = e.get<T>();
        if (!value) {
            why_ = std::move(value).error();
            return;
        }
        field = *std::move(value);
        seen_ |= 1U << number;
    }

    /// Text is taken from where it lies, without a string in between.
    void take(const bson::element& e, std::string& field, unsigned number)
    {
        auto text = e.get<std::string_view>();
        if (!text) {
            why_ = std::move(text).error();
            return;
        }
        field = *text;
        seen_ |= 1U << number;
    }

    /// For values that a function of this file has read.
    template <class T>
    void set(result<T> value, T& field, unsigned number)
    {
        if (!value) {
            why_ = std::move(value).error();
            return;
        }
        field = *std::move(value);
        seen_ |= 1U << number;
    }

    bool failed() const { return why_.has_value(); }

    template <class T>
    result<T> finish(T&& record, unsigned required)
    {
        if (why_)
            return *std::move(why_);
        if ((seen_ & required) != required)
            return error{bson::errc::missing_field, "a field is missing"};
        return std::move(record);
    }

private:
    std::optional<error> why_;
    unsigned seen_ = 0;
};

result<address> read_address(const bson::element& from)
{
    address a;
    field_reader fields;
    const auto document = from.get<bson::view>();
    if (!document)
        return document.error();
    for (const bson::element& e : *document) {
        const std::string_view key = e.key();
        if (key == "street")
            fields.take(e, a.street, 0);
        else if (key == "city")
            fields.take(e, a.city, 1);
        else if (key == "country")
            fields.take(e, a.country, 2);
        if (e.malformed() || fields.failed())
            break;
    }
    return fields.finish(std::move(a), 0b111);
}

result<order_line> read_line(const bson::element& from)
{
    order_line line;
    field_reader fields;
    const auto document = from.get<bson::view>();
    if (!document)
        return document.error();
    for (const bson::element& e : *document) {
        const std::string_view key = e.key();
        if (key == "item")
            fields.take(e, line.item, 0);
        else if (key == "count")
            fields.take(e, line.count, 1);
        else if (key == "price")
            fields.take(e, line.price, 2);
        if (fields.failed())
            break;
    }
    return fields.finish(std::move(line), 0b111);
}

template <class T, class Read>
result<std::vector<T>> read_list(const bson::element& from, Read read)
{
    const auto items = from.get<bson::array_view>();
    if (!items)
        return items.error();
    std::vector<T> list;
    for (const bson::element& e : *items) {
        auto item = read(e);
        if (!item)
            return std::move(item).error();
        list.push_back(*std::move(item));
    }
    return list;
}

}  // namespace

result<small_record> read_small(bson::view document)
{
    small_record r;
    field_reader fields;
    for (const bson::element& e : document) {
        const std::string_view key = e.key();
        if (key == "oggaoR4O")
            fields.take(e, r.text_1, 0);
        else if (key == "Vxri7mmI")
            fields.take(e, r.text_2, 1);
        else if (key == "IQ8K4ZMG")
            fields.take(e, r.text_3, 2);
        else if (key == "WzI8s1W0")
            fields.take(e, r.text_4, 3);
        else if (key == "E5Aj2zB3")
            fields.take(e, r.text_5, 4);
        else if (key == "3MXe8Wi7")
            fields.take(e, r.text_6, 5);
        else if (key == "PHPSSV51")
            fields.take(e, r.text_7, 6);
        else if (key == "CxSCo4jD")
            fields.take(e, r.number_1, 7);
        else if (key == "5C8GSDC5")
            fields.take(e, r.number_2, 8);
        else if (key == "fC63DsLR")
            fields.take(e, r.number_3, 9);
        else if (key == "l6e0U4bR")
            fields.take(e, r.number_4, 10);
        else if (key == "TLRpkltp")
            fields.take(e, r.number_5, 11);
        else if (key == "Ph9CZN5L")
            fields.take(e, r.number_6, 12);
        if (fields.failed())
            break;
    }
    return fields.finish(std::move(r), 0x1FFF);
}

result<order> read_order(bson::view document)
{
    constexpr unsigned optional_field = 1U << 5;
    const auto text = [](const bson::element& e) { return e.get<std::string>(); };
    order o;
    field_reader fields;
    for (const bson::element& e : document) {
        const std::string_view key = e.key();
        if (key == "_id")
            fields.take(e, o.id, 0);
        else if (key == "customer")
            fields.take(e, o.customer, 1);
        else if (key == "placed")
            fields.take(e, o.placed, 2);
        else if (key == "gift")
            fields.take(e, o.gift, 3);
        else if (key == "total")
            fields.take(e, o.total, 4);
        else if (key == "note")
            fields.take(e, o.note.emplace(), 5);
        else if (key == "ship_to")
            fields.set(read_address(e), o.ship_to, 6);
        else if (key == "lines")
            fields.set(read_list<order_line>(e, read_line), o.lines, 7);
        else if (key == "tags")
            fields.set(read_list<std::string>(e, text), o.tags, 8);
        if (fields.failed())
            break;
    }
    return fields.finish(std::move(o), 0x1FF & ~optional_field);
}

void write(bson::builder& out, const small_record& r)
{
    out.add("oggaoR4O", r.text_1).add("Vxri7mmI", r.text_2).add("IQ8K4ZMG", r.text_3);
    out.add("WzI8s1W0", r.text_4).add("E5Aj2zB3", r.text_5).add("3MXe8Wi7", r.text_6);
    out.add("PHPSSV51", r.text_7).add("CxSCo4jD", r.number_1).add("5C8GSDC5", r.number_2);
    out.add("fC63DsLR", r.number_3).add("l6e0U4bR", r.number_4).add("TLRpkltp", r.number_5);
    out.add("Ph9CZN5L", r.number_6);
}

void write(bson::builder& out, const order& o)
{
    out.add("_id", o.id).add("customer", o.customer).add("placed", o.placed);
    out.add("gift", o.gift).add("total", o.total);
    if (o.note)
        out.add("note", *o.note);
    {
        auto to = out.document("ship_to");
        to.add("street", o.ship_to.street).add("city", o.ship_to.city);
        to.add("country", o.ship_to.country);
    }
    {
        auto lines = out.array("lines");
        for (const order_line& line : o.lines) {
            auto item = lines.document();
            item.add("item", line.item).add("count", line.count).add("price", line.price);
        }
    }
    auto tags = out.array("tags");
    for (const std::string& tag : o.tags)
        tags.add(tag);
}

namespace {

struct by_hand {
    template <class Record>
    static bson::view append(bson::byte_buffer& buffer, const Record& record)
    {
        bson::builder out{buffer};
        write(out, record);
        return out.finish().value();
    }
    template <class Record>
    static Record read(bson::view document)
    {
        if constexpr (std::is_same_v<Record, order>)
            return read_order(document).value();
        else
            return read_small(document).value();
    }
};

}  // namespace

std::unique_ptr<task> make_by_hand(std::string_view row, const input& in)
{
    return make_record_task<by_hand>(row, in);
}

}  // namespace holdfast::bench
