#include "holdfast/bson/mapping.hpp"
#include "record_task.hpp"

namespace holdfast::bench {

BOOST_DESCRIBE_STRUCT(small_record, (),
                      (text_1, text_2, text_3, text_4, text_5, text_6, text_7, number_1, number_2,
                       number_3, number_4, number_5, number_6))
BOOST_DESCRIBE_STRUCT(address, (), (street, city, country))
BOOST_DESCRIBE_STRUCT(order_line, (), (item, count, price))
BOOST_DESCRIBE_STRUCT(order, (), (id, customer, placed, gift, total, note, ship_to, lines, tags))

}  // namespace holdfast::bench

template <>
inline constexpr auto holdfast::bson::mapping_of<holdfast::bench::small_record> = mapping{
    rename(&bench::small_record::text_1, "oggaoR4O"),
    rename(&bench::small_record::text_2, "Vxri7mmI"),
    rename(&bench::small_record::text_3, "IQ8K4ZMG"),
    rename(&bench::small_record::text_4, "WzI8s1W0"),
    rename(&bench::small_record::text_5, "E5Aj2zB3"),
    rename(&bench::small_record::text_6, "3MXe8Wi7"),
    rename(&bench::small_record::text_7, "PHPSSV51"),
    rename(&bench::small_record::number_1, "CxSCo4jD"),
    rename(&bench::small_record::number_2, "5C8GSDC5"),
    rename(&bench::small_record::number_3, "fC63DsLR"),
    rename(&bench::small_record::number_4, "l6e0U4bR"),
    rename(&bench::small_record::number_5, "TLRpkltp"),
    rename(&bench::small_record::number_6, "Ph9CZN5L"),
};

template <>
inline constexpr auto holdfast::bson::mapping_of<holdfast::bench::order> = mapping{
    rename(&bench::order::id, "_id"),
};

namespace holdfast::bench {

namespace {

struct mapped {
    template <class Record>
    static bson::view append(bson::byte_buffer& out, const Record& record)
    {
        return bson::append_bson(out, record).value();
    }
    template <class Record>
    static Record read(bson::view document)
    {
        return bson::from_bson<Record>(document).value();
    }
};

}  // namespace

std::unique_ptr<task> make_mapped(std::string_view row, const input& in)
{
    return make_record_task<mapped>(row, in);
}

}  // namespace holdfast::bench
