#pragma once
#include "holdfast/bson/object_id.hpp"
#include "holdfast/bson/types.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::bench {

/// small_doc of the specifications' benchmark as a struct. Its keys are no C++ names: the mapping
/// renames every field.
struct small_record {
    std::string text_1;
    std::string text_2;
    std::string text_3;
    std::string text_4;
    std::string text_5;
    std::string text_6;
    std::string text_7;
    std::int32_t number_1 = 0;
    std::int32_t number_2 = 0;
    std::int32_t number_3 = 0;
    std::int32_t number_4 = 0;
    std::int32_t number_5 = 0;
    std::int32_t number_6 = 0;
};

/// What programs really store: structs in structs, lists, something that may be absent.
struct address {
    std::string street;
    std::string city;
    std::string country;
};

struct order_line {
    std::string item;
    std::int32_t count = 0;
    double price = 0;
};

struct order {
    bson::object_id id;  // the key is _id
    std::string customer;
    bson::datetime placed;
    bool gift = false;
    std::int64_t total = 0;
    std::optional<std::string> note;  // not written if there is none
    address ship_to;
    std::vector<order_line> lines;
    std::vector<std::string> tags;
};

small_record sample_small();
order sample_order();

/// A number that depends on every field that was read.
std::uint64_t checksum(const small_record& r);
std::uint64_t checksum(const order& o);

}  // namespace holdfast::bench
