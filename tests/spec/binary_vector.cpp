#include "holdfast/bson/binary_vector.hpp"

#include "case_fields.hpp"
#include "format.hpp"
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/validate.hpp"

#include <charconv>
#include <limits>

namespace holdfast::spec {
namespace {

namespace json = boost::json;
using byte_string = std::vector<std::uint8_t>;

/// JSON has no infinity, so the files write {"$numberDouble": "-Infinity"}, and older ones "inf".
double number_of_text(std::string_view text)
{
    double value = 0;
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
    demand(ec == std::errc{} && end == text.data() + text.size(),
           "not a number: " + std::string{text});
    return value;
}

double number_of(const json::value& v)
{
    if (v.is_number())
        return v.to_number<double>();
    if (v.is_string())
        return number_of_text(v.get_string());
    return number_of_text(case_fields{v}.text("$numberDouble"));
}

/// The vector of a case in the type that its dtype asks for. This is where a number that the dtype
/// cannot hold is found: our encoders take typed values, to which no such number converts.
template <class T>
result<std::vector<T>> typed(const json::array& numbers)
{
    std::vector<T> values;
    for (const json::value& v : numbers) {
        if constexpr (std::is_integral_v<T>) {
            if (!v.is_int64() || !std::in_range<T>(v.get_int64()))
                return error{bson::errc::out_of_range, "not in the range of the dtype"};
            values.push_back(static_cast<T>(v.get_int64()));
        } else {
            values.push_back(static_cast<T>(number_of(v)));
        }
    }
    return values;
}

result<byte_string> encode_numbers(auto values, std::int64_t padding)
{
    if (!values)
        return std::move(values).error();
    if (padding != 0)
        return error{bson::errc::invalid_value, "only packed bits have a padding"};
    return bson::encode_vector(*values);
}

result<byte_string> encode_bits(result<std::vector<std::uint8_t>> bytes, std::int64_t padding)
{
    if (!bytes)
        return std::move(bytes).error();
    if (!std::in_range<int>(padding))
        return error{bson::errc::invalid_value, "no such padding"};
    return bson::encode_packed_bits(*bytes, static_cast<int>(padding));
}

result<byte_string> encode(const json::array& numbers, bson::vector_dtype dtype,
                           std::int64_t padding)
{
    switch (dtype) {
    case bson::vector_dtype::int8:
        return encode_numbers(typed<std::int8_t>(numbers), padding);
    case bson::vector_dtype::float32:
        return encode_numbers(typed<float>(numbers), padding);
    case bson::vector_dtype::packed_bit:
        return encode_bits(typed<std::uint8_t>(numbers), padding);
    }
    return error{bson::errc::invalid_value, "no such dtype"};
}

bson::document wrap(const std::string& key, const byte_string& payload)
{
    return bson::doc(key, bson::binary{payload, bson::binary_subtype::vector});
}

result<bson::binary_vector> decode(const byte_string& bytes, const std::string& key)
{
    const auto document = bson::validate(bytes);
    demand(document.has_value(), document ? "" : document.error().explain());
    const auto value = document->get<bson::binary>(key);
    demand(value.has_value(), value ? "" : value.error().explain());
    return bson::binary_vector::parse(*value);
}

/// Whether the decoded numbers are those of the case, floats to the last bit.
bool same_numbers(const bson::binary_vector& found, const json::array& numbers)
{
    switch (found.dtype()) {
    case bson::vector_dtype::int8:
        return std::ranges::equal(found.int8_values().value(), typed<std::int8_t>(numbers).value());
    case bson::vector_dtype::float32:
        return found.float32_values().value() == typed<float>(numbers).value();
    case bson::vector_dtype::packed_bit:
        break;
    }
    const auto bytes = typed<std::uint8_t>(numbers).value();
    const auto bits = found.bits().value();
    for (std::size_t i = 0; i < bits.size(); ++i)
        if (bits[i] != ((bytes[i / 8] >> (7 - i % 8) & 1) != 0))
            return false;
    return std::ranges::equal(found.data(), bytes) &&
           bits.size() + static_cast<std::size_t>(found.padding()) == bytes.size() * 8;
}

void check_valid(const case_fields& c, const std::string& key, bson::vector_dtype dtype)
{
    const std::int64_t padding = c.number("padding", 0);
    const byte_string expected = c.bytes("canonical_bson");
    const auto payload = encode(c.list("vector"), dtype, padding);
    demand(payload.has_value(), payload ? "" : "encode: " + payload.error().explain());
    const bson::document encoded = wrap(key, *payload);
    demand(std::ranges::equal(encoded.bytes(), expected),
           "encode: expected " + hex(expected) + ", found " + hex(encoded.bytes()));

    const auto decoded = decode(expected, key);
    demand(decoded.has_value(), decoded ? "" : "decode: " + decoded.error().explain());
    demand(decoded->dtype() == dtype, "decode: another dtype");
    demand(decoded->padding() == padding, "decode: another padding");
    demand(same_numbers(*decoded, c.list("vector")), "decode: other numbers");
}

outcome run_binary_vector(const json::value& fields, const std::string& key)
{
    const case_fields c{fields};
    c.demand_only({"description", "valid", "vector", "dtype_hex", "dtype_alias", "padding",
                   "canonical_bson"});
    demand(c.has("valid"), "the file does not say whether the case is valid");
    const byte_string dtype_byte = bytes_from_hex(c.text("dtype_hex").substr(2));
    demand(dtype_byte.size() == 1, "the dtype is not one byte");
    const bson::vector_dtype dtype{dtype_byte[0]};
    if (c.flag("valid", false)) {
        check_valid(c, key, dtype);
        return passed{};
    }
    demand(c.has("vector") || c.has("canonical_bson"), "the case asserts nothing");
    if (c.has("vector"))
        demand(!encode(c.list("vector"), dtype, c.number("padding", 0)),
               "an invalid vector was encoded");
    if (c.has("canonical_bson"))
        demand(!decode(c.bytes("canonical_bson"), key), "an invalid vector was decoded");
    return passed{};
}

const json::array* tests_of(const json::object& file)
{
    const json::value* const tests = file.if_contains("tests");
    return tests ? tests->if_array() : nullptr;
}

bool recognises_binary_vector(const json::object& file)
{
    const json::array* const tests = tests_of(file);
    if (!tests || !file.contains("test_key"))
        return false;
    return std::ranges::any_of(*tests, [](const json::value& test) {
        return test.is_object() && test.get_object().contains("dtype_hex");
    });
}

std::vector<test_case> binary_vector_cases(const json::object& file)
{
    demand_only(file, {"description", "test_key", "tests"});
    const std::string key{file.at("test_key").as_string()};
    std::vector<test_case> all;
    for (const json::value& fields : *tests_of(file))
        all.push_back({description_of(fields),
                       [&fields, key](const settings&) { return run_binary_vector(fields, key); }});
    return all;
}

}  // namespace

const format binary_vector{"bson-binary-vector", recognises_binary_vector, binary_vector_cases};

}  // namespace holdfast::spec
