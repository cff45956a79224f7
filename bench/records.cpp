#include "records.hpp"

namespace holdfast::bench {

namespace {

std::uint64_t first(const std::string& text)
{
    return text.empty() ? 0 : static_cast<unsigned char>(text.front()) + text.size();
}

}  // namespace

small_record sample_small()
{
    return {.text_1 = "miNVpaKW",
            .text_2 = "CS5VwrwN",
            .text_3 = "Oq5Csk1w",
            .text_4 = "ZPm57dhu",
            .text_5 = "gxUpzIjg",
            .text_6 = "Smo9whci",
            .text_7 = "TW34kfzq",
            .number_1 = 55336395,
            .number_2 = 41992681,
            .number_3 = 72188733,
            .number_4 = 46660880,
            .number_5 = 3527055,
            .number_6 = 74094448};
}

order sample_order()
{
    order o;
    o.id.bytes = {0x65, 0x53, 0xF1, 0x00, 1, 2, 3, 4, 5, 0, 0, 42};
    o.customer = "Grace Hopper, Department of the Navy";
    o.placed = bson::datetime{std::chrono::milliseconds{1'700'000'000'123}};
    o.gift = true;
    o.total = 12'345'678'901;
    o.note = "leave at the gate";
    o.ship_to = {"12 Harbour Street", "Arlington", "US"};
    for (int i = 0; i < 5; ++i)
        o.lines.push_back({"item-" + std::to_string(1000 + i), i + 1, 2.5 * i + 0.25});
    o.tags = {"fragile", "express", "insured"};
    return o;
}

std::uint64_t checksum(const small_record& r)
{
    std::uint64_t sum = 0;
    for (const auto* text :
         {&r.text_1, &r.text_2, &r.text_3, &r.text_4, &r.text_5, &r.text_6, &r.text_7})
        sum += first(*text);
    for (const std::int32_t number :
         {r.number_1, r.number_2, r.number_3, r.number_4, r.number_5, r.number_6})
        sum += static_cast<std::uint64_t>(number);
    return sum;
}

std::uint64_t checksum(const order& o)
{
    std::uint64_t sum = o.id.bytes.back() + first(o.customer) + (o.gift ? 1 : 0);
    sum += static_cast<std::uint64_t>(o.placed.time_since_epoch().count() + o.total);
    sum += o.note ? first(*o.note) : 0;
    sum += first(o.ship_to.street) + first(o.ship_to.city) + first(o.ship_to.country);
    for (const order_line& line : o.lines) {
        sum += first(line.item) + static_cast<std::uint64_t>(line.count) +
               static_cast<std::uint64_t>(line.price * 4);
    }
    for (const std::string& tag : o.tags)
        sum += first(tag);
    return sum;
}

}  // namespace holdfast::bench
