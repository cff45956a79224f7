#include "case_fields.hpp"
#include "format.hpp"
#include "holdfast/bson/canonical.hpp"
#include "holdfast/bson/json.hpp"
#include "holdfast/bson/validate.hpp"
#include "json_text.hpp"
#include "typed_read.hpp"

namespace holdfast::spec {
namespace {

namespace json = boost::json;
using bson::json_mode;
using byte_string = std::vector<std::uint8_t>;

template <class T>
T take(result<T> made, const std::string& text)
{
    demand(made.has_value(), made ? "" : text + ": " + made.error().explain());
    return *std::move(made);
}

void same_bytes(const bson::document& found, const byte_string& expected, const std::string& text)
{
    demand(std::ranges::equal(found.bytes(), expected),
           text + ": expected " + hex(expected) + ", found " + hex(found.bytes()));
}

void same_json(const std::string& found, std::string_view expected, const std::string& text)
{
    const auto wanted = normalise_json(expected);
    demand(wanted.has_value(), "the file's Extended JSON is no JSON: " + std::string{expected});
    const auto got = normalise_json(found);
    demand(got.has_value(), text + ": no JSON: " + found);
    demand(*got == *wanted, text + ": expected " + std::string{expected} + ", found " + found);
}

std::string print(bson::view document, json_mode mode, const std::string& text)
{
    return take(bson::to_json(document, mode), text);
}

/// One document in the forms a case gives it in. The names are those of the specification's
/// assertions for a codec with a native representation; those for one without are all among them.
struct forms {
    byte_string canonical_bson;
    std::string_view canonical_json;
    std::optional<std::string_view> relaxed_json;
    bool lossy = false;
};

void check_canonical_bson(const forms& f)
{
    const bson::view document = take(bson::validate(f.canonical_bson), "decode canonical BSON");
    read_all(document);
    same_bytes(take(bson::canonical(document), "encode again"), f.canonical_bson, "encode again");
    const std::string text = "canonical BSON to ";
    same_json(print(document, json_mode::canonical, text + "canonical JSON"), f.canonical_json,
              text + "canonical JSON");
    if (f.relaxed_json)
        same_json(print(document, json_mode::relaxed, text + "relaxed JSON"), *f.relaxed_json,
                  text + "relaxed JSON");
}

/// For canonical Extended JSON, and for the degenerate form that means the same.
void check_json(std::string_view text, const forms& f, const std::string& which)
{
    const bson::document parsed = take(bson::from_json(text), which + " JSON");
    same_json(print(parsed, json_mode::canonical, which + " JSON and back"), f.canonical_json,
              which + " JSON and back");
    if (!f.lossy)
        same_bytes(parsed, f.canonical_bson, which + " JSON to BSON");
}

void check_relaxed_json(const forms& f)
{
    if (!f.relaxed_json)
        return;
    const bson::document parsed = take(bson::from_json(*f.relaxed_json), "relaxed JSON");
    same_json(print(parsed, json_mode::relaxed, "relaxed JSON and back"), *f.relaxed_json,
              "relaxed JSON and back");
}

void check_degenerate_bson(const byte_string& bytes, const forms& f)
{
    const bson::view document = take(bson::validate(bytes), "decode degenerate BSON");
    read_all(document);
    same_bytes(take(bson::canonical(document), "encode degenerate BSON"), f.canonical_bson,
               "encode degenerate BSON");
    const std::string text = "degenerate BSON to ";
    same_json(print(document, json_mode::canonical, text + "canonical JSON"), f.canonical_json,
              text + "canonical JSON");
    if (f.relaxed_json)
        same_json(print(document, json_mode::relaxed, text + "relaxed JSON"), *f.relaxed_json,
                  text + "relaxed JSON");
}

outcome run_valid(const json::value& fields)
{
    const case_fields c{fields};
    c.demand_only({"description", "canonical_bson", "canonical_extjson", "relaxed_extjson",
                   "degenerate_bson", "degenerate_extjson", "converted_bson", "converted_extjson",
                   "lossy"});
    const forms f{c.bytes("canonical_bson"), c.text("canonical_extjson"),
                  c.text_if("relaxed_extjson"), c.flag("lossy", false)};
    check_canonical_bson(f);
    check_json(f.canonical_json, f, "canonical");
    check_relaxed_json(f);
    if (c.has("degenerate_bson"))
        check_degenerate_bson(c.bytes("degenerate_bson"), f);
    if (const auto degenerate = c.text_if("degenerate_extjson"))
        check_json(*degenerate, f, "degenerate");
    // Drivers that lack the deprecated types convert them to others. We have them, so nothing is
    // converted; but what others convert to is a document too, and must fare like any.
    if (c.has("converted_bson") || c.has("converted_extjson")) {
        const forms converted{c.bytes("converted_bson"), c.text("converted_extjson"), {}, f.lossy};
        check_canonical_bson(converted);
        check_json(converted.canonical_json, converted, "converted");
    }
    return passed{};
}

outcome run_decode_error(const json::value& fields)
{
    const case_fields c{fields};
    c.demand_only({"description", "bson"});
    demand(!bson::validate(c.bytes("bson")), "malformed BSON was accepted");
    return passed{};
}

outcome run_parse_error(const json::value& fields, bson::type tested)
{
    const case_fields c{fields};
    c.demand_only({"description", "string"});
    const std::string_view text = c.text("string");
    if (tested == bson::type::decimal128) {
        demand(!bson::decimal128::parse(text), "the text was accepted as a Decimal128");
        return passed{};
    }
    if (tested != bson::type::invalid && tested != bson::type::binary)
        return skipped{"the specification does not say how parse errors of type " +
                       std::string{name_of(tested)} + " are to be read"};
    demand(normalise_json(text).has_value(), "the text is no JSON, so it proves nothing");
    demand(!bson::from_json(text), "the Extended JSON was accepted");
    return passed{};
}

/// The type that a file is about; `invalid`, which is 0x00, stands for whole documents. The file's
/// test_key is not used: official cases exist in which no field has that name.
bson::type type_of(const json::object& file)
{
    const byte_string type = bytes_from_hex(file.at("bson_type").as_string().subview(2));
    demand(type.size() == 1, "the file's bson_type is not one byte");
    return bson::type{type[0]};
}

bool recognises_bson_corpus(const json::object& file)
{
    const json::value* const type = file.if_contains("bson_type");
    return type && type->is_string() && type->get_string().starts_with("0x");
}

template <class Run>
void add_cases(std::vector<test_case>& to, const json::object& file, std::string_view section,
               Run run)
{
    if (!file.contains(section))
        return;
    for (const json::value& fields : file.at(section).as_array())
        to.push_back({description_of(fields),
                      [&fields, run](const settings&) -> outcome { return run(fields); }});
}

std::vector<test_case> bson_corpus_cases(const json::object& file)
{
    demand_only(file, {"description", "bson_type", "test_key", "valid", "decodeErrors",
                       "parseErrors", "deprecated"});
    const bson::type tested = type_of(file);
    std::vector<test_case> all;
    add_cases(all, file, "valid", [](const json::value& c) { return run_valid(c); });
    add_cases(all, file, "decodeErrors", [](const json::value& c) { return run_decode_error(c); });
    add_cases(all, file, "parseErrors",
              [tested](const json::value& c) { return run_parse_error(c, tested); });
    return all;
}

}  // namespace

const format bson_corpus{"bson-corpus", recognises_bson_corpus, bson_corpus_cases};

}  // namespace holdfast::spec
