// Any text as JSON: our reader takes what Boost.JSON takes, and refuses the rest with a place; a
// struct that was read can be written, and read again as what it was.
#include "holdfast/json.hpp"

#include "holdfast/json/boost.hpp"
#include "require.hpp"

#include <boost/describe/class.hpp>
#include <boost/json/parse.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace holdfast;

struct part {
    std::string name = {};
    std::optional<std::uint64_t> count = {};
    friend bool operator==(const part&, const part&) = default;
};
BOOST_DESCRIBE_STRUCT(part, (), (name, count))

struct whole {
    std::vector<part> parts = {};
    std::optional<double> rate = {};
    std::map<std::string, std::int32_t> places = {};
    bool is_open = false;
    friend bool operator==(const whole&, const whole&) = default;
};
BOOST_DESCRIBE_STRUCT(whole, (), (parts, rate, places, is_open))

template <class T>
void check_round_trip(std::string_view text)
{
    const auto read = json::from_json<T>(text);
    if (!read) {
        REQUIRE(read.error().code().failed() && !read.error().message().empty());
        return;
    }
    const auto written = json::to_json(*read);
    REQUIRE(written.has_value());
    const auto again = json::from_json<T>(written->text());
    REQUIRE(again.has_value() && *again == *read);
}

/// Numbers beyond all doubles and very deep texts are refused by one of the two only.
void check_against_boost(std::string_view text)
{
    const auto ours = json::from_json<raw_json>(text);
    boost::json::error_code problem;
    boost::json::parse_options options;
    options.max_depth = json::max_depth;
    (void)boost::json::parse(text, problem, {}, options);
    if (!problem)
        REQUIRE(ours.has_value());
    if (ours)
        REQUIRE(!problem || problem == boost::json::error::exponent_overflow ||
                problem == boost::json::error::too_deep);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    check_against_boost(text);
    check_round_trip<whole>(text);
    check_round_trip<part>(text);
    check_round_trip<std::vector<std::optional<std::string>>>(text);
    check_round_trip<double>(text);
    check_round_trip<std::int64_t>(text);
    (void)json::from_json<boost::json::value>(text);
    return 0;
}
