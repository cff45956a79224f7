#pragma once
#include "choices.hpp"
#include "holdfast/bson/types.hpp"

#include <string>
#include <variant>
#include <vector>

namespace holdfast::property {

struct field;

struct sample_document {
    std::vector<field> fields;
};
struct sample_array {
    std::vector<field> items;  // whose keys are not used
};
struct sample_binary {
    std::vector<std::uint8_t> bytes;
    bson::binary_subtype subtype;
};
struct sample_regex {
    std::string pattern;
    std::string options;
};
struct sample_code {
    std::string source;
};
struct sample_symbol {
    std::string text;
};
struct sample_db_pointer {
    std::string collection;
    bson::object_id id;
};
struct sample_code_with_scope {
    std::string source;
    sample_document scope;
};

using sample_value = std::variant<
    bson::null, double, std::string, sample_document, sample_array, sample_binary, bson::undefined,
    bson::object_id, bool, bson::datetime, sample_regex, sample_db_pointer, sample_code,
    sample_symbol, sample_code_with_scope, std::int32_t, bson::timestamp, std::int64_t,
    bson::decimal128, bson::min_key, bson::max_key>;

struct field {
    std::string key;
    sample_value value;
};

/// A document in memory, not yet BSON: all types, nested, with odd numbers, dates and texts. All
/// text is well-formed UTF-8. Code and collection names hold no zero byte, because libbson takes
/// them as C strings.
sample_document make_document(choices& c);

}  // namespace holdfast::property
