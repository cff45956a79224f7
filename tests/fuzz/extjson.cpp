// Any text taken for Extended JSON.
#include "holdfast/bson/json.hpp"
#include "holdfast/bson/validate.hpp"
#include "require.hpp"

using namespace holdfast;

namespace {

/// Printing and parsing again gives the same text. The bytes may differ once: a key may be written
/// as $x in a place where it means nothing, or a number in its relaxed form.
void check_stable(bson::view document, bson::json_mode mode)
{
    const auto printed = bson::to_json(document, mode);
    REQUIRE(printed.has_value());
    const auto again = bson::from_json(*printed);
    REQUIRE(again.has_value());
    REQUIRE(bson::to_json(*again, mode).value() == *printed);
    if (mode == bson::json_mode::canonical)
        REQUIRE(again->view() == document);
}

void check_error(const error& e, std::string_view text)
{
    REQUIRE(!e.message().empty());
    const std::string line{e.context("line")};
    const std::string column{e.context("column")};
    REQUIRE(!line.empty() && !column.empty());
    REQUIRE(std::stoul(line) >= 1 && std::stoul(line) <= text.size() + 1);
    REQUIRE(std::stoul(column) >= 1 && std::stoul(column) <= text.size() + 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const auto document = bson::from_json(text);
    if (!document) {
        check_error(document.error(), text);
    } else {
        REQUIRE(bson::validate(document->bytes()).has_value());
        check_stable(*document, bson::json_mode::canonical);
        check_stable(*document, bson::json_mode::relaxed);
    }
    if (const auto array = bson::array_from_json(text))
        REQUIRE(bson::validate(array->bytes()).has_value());
    return 0;
}
