// Any bytes taken for a document.
#include "../support/walk.hpp"
#include "holdfast/bson/canonical.hpp"
#include "holdfast/bson/json.hpp"
#include "holdfast/bson/validate.hpp"
#include "require.hpp"

#include <cmath>

using namespace holdfast;

namespace {

/// Whether Extended JSON keeps every value: it drops the payload of a NaN and the bits of a
/// Decimal128 that its text does not show.
bool survives_json(bson::view document)
{
    for (const bson::element& e : document) {
        switch (e.type()) {
        case bson::type::double_:
            if (std::isnan(e.as_double()))
                return false;
            break;
        case bson::type::decimal128:
            if (bson::decimal128::parse(e.as_decimal128().to_string()).value() != e.as_decimal128())
                return false;
            break;
        case bson::type::document:
        case bson::type::array:
            if (!survives_json(e.as_document()))
                return false;
            break;
        case bson::type::code_with_scope:
            if (!survives_json(e.as_code_with_scope().value().scope))
                return false;
            break;
        default:
            break;
        }
    }
    return true;
}

/// Keys that begin with $ may mean something else when they are read again, and what no writer
/// writes (array keys, regex options out of order) comes back as it should have been.
void check_json(bson::view document, const proof::walked& seen)
{
    const auto canonical = bson::to_json(document, bson::json_mode::canonical);
    const auto relaxed = bson::to_json(document, bson::json_mode::relaxed);
    REQUIRE(canonical.has_value());
    REQUIRE(relaxed.has_value());
    if (seen.dollar_keys != 0 || seen.unordered != 0)
        return;
    const auto back = bson::from_json(*canonical);
    REQUIRE(back.has_value());
    REQUIRE(bson::to_json(*back, bson::json_mode::canonical).value() == *canonical);
    REQUIRE(bson::to_json(*back, bson::json_mode::relaxed).value() == *relaxed);
    REQUIRE(!survives_json(document) || back->view() == document);
    const auto relaxed_back = bson::from_json(*relaxed);
    REQUIRE(relaxed_back.has_value());
    REQUIRE(bson::to_json(*relaxed_back, bson::json_mode::relaxed).value() == *relaxed);
}

void check_accepted(bson::view document)
{
    const proof::walked seen = proof::walk(document);
    REQUIRE(seen.errors == 0);
    const auto rewritten = bson::canonical(document);
    REQUIRE(rewritten.has_value());
    REQUIRE(seen.unordered != 0 || rewritten->view() == document);
    REQUIRE(bson::validate(rewritten->bytes()).has_value());
    REQUIRE(bson::canonical(*rewritten).value() == *rewritten);
    check_json(document, seen);
}

/// These bytes are not validated, yet all reading must stay inside them, and printing must not
/// pretend that all was well.
void check_rejected(std::span<const std::uint8_t> bytes)
{
    const auto document = bson::view::parse(bytes);
    if (!document)
        return;
    const proof::walked seen = proof::walk(*document);
    const auto rewritten = bson::canonical(*document);
    const auto printed = bson::to_json(*document, bson::json_mode::canonical);
    REQUIRE(seen.errors == 0 || !printed);
    for (const bson::element& e : *document) {
        const bson::element found = document->find(e.key());
        REQUIRE(found || found.malformed());
        if (e.malformed())
            REQUIRE(!e.get<std::int32_t>() && !e.get<std::string_view>() && !e.get<bson::view>());
    }
    (void)document->find_path("a.0.b");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::span<const std::uint8_t> bytes{data, size};
    if (const auto document = bson::validate(bytes))
        check_accepted(*document);
    else
        check_rejected(bytes);
    return 0;
}
