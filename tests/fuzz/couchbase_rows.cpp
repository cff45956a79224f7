// Any text taken for the reply of a service. The first byte is the size of the pieces it arrives
// in: they make no difference, and rows and the rest are what Boost.JSON finds in the whole.
#include "core/couchbase/rows/row_splitter.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "require.hpp"

#include <boost/json/parse.hpp>

#include <algorithm>
#include <vector>

using namespace holdfast::core::couchbase;

namespace {

struct outcome {
    std::vector<std::string> rows = {};
    std::string metadata = {};
    std::string fault = {};

    friend bool operator==(const outcome&, const outcome&) = default;
};

outcome split(std::string_view text, std::size_t size)
{
    row_splitter splitter{"results", {.max_row_bytes = 4096, .max_metadata_bytes = 65536}};
    outcome found;
    std::vector<char> piece;
    for (std::size_t at = 0; at < text.size() && !splitter.failed(); at += size) {
        const std::string_view part = text.substr(at, size);
        piece.assign(part.begin(), part.end());
        splitter.feed({piece.data(), piece.size()});
        for (std::string_view row; splitter.next(row);)
            found.rows.emplace_back(row);
    }
    if (!splitter.failed())
        splitter.finish();
    REQUIRE(splitter.failed() != splitter.complete());
    REQUIRE(splitter.rows() == found.rows.size());
    if (splitter.failed()) {
        const holdfast::error fault = std::move(splitter).fault();
        REQUIRE(fault.code() == holdfast::couchbase::errc::decoding_failure);
        REQUIRE(!fault.context("offset").empty());
        found.fault = fault.message();
        // A row that is too large is found when it is complete, or when it is known to be.
        if (found.fault.find("bytes") != std::string::npos)
            found.fault = "too large";
        return found;
    }
    found.metadata = std::move(splitter).metadata();
    return found;
}

/// Texts that name their rows in a way that no server does are left out.
void check_against_boost(std::string_view text, const outcome& found)
{
    constexpr std::string_view name = "\"results\"";
    if (text.find(name) != text.rfind(name) || text.find("\\u") != text.npos)
        return;
    boost::json::error_code problem;
    boost::json::parse_options options;
    options.max_depth = row_splitter::max_depth - 3;
    auto whole = boost::json::parse(text, problem, {}, options);
    // A number can be none for Boost.JSON, 0e400000, and does not equal itself then.
    const bool is_itself = problem || whole == boost::json::value{whole};
    if (problem || !is_itself || !whole.is_object() || found.fault == "too large")
        return;
    REQUIRE(found.fault.empty());
    std::size_t rows = 0;
    if (auto* const value = whole.as_object().if_contains("results"); value && value->is_array()) {
        auto& array = value->as_array();
        rows = array.size();
        for (std::size_t i = 0; i < std::min(rows, found.rows.size()); ++i)
            REQUIRE(boost::json::parse(found.rows[i], {}, options) == array[i]);
        array.clear();
    }
    REQUIRE(rows == found.rows.size());
    REQUIRE(boost::json::parse(found.metadata, {}, options) == whole);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0)
        return 0;
    const std::string_view text{reinterpret_cast<const char*>(data) + 1, size - 1};
    const outcome whole = split(text, text.size() + 1);
    REQUIRE(split(text, 1U + data[0]) == whole);
    check_against_boost(text, whole);
    return 0;
}
