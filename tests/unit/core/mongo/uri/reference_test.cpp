#include "core/mongo/uri/option_table.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace holdfast::core::mongo::reference_test {
namespace {

constexpr std::string_view begins = "<!-- begin of the option table -->\n";
constexpr std::string_view ends = "<!-- end of the option table -->\n";

std::filesystem::path page()
{
    auto root = std::filesystem::path{__FILE__};
    for (int up = 0; up < 6; ++up)
        root = root.parent_path();
    return root / "docs" / "connection-string.md";
}

/// The table as the page must have it: a new option needs a line there.
std::string reference()
{
    std::string text = "| Option | Allowed | Default | Meaning |\n|---|---|---|---|\n";
    for (const option& o : all_options()) {
        const auto by_default = written(o, client_settings{});
        text += "| `" + std::string{o.name} + "` | " + allowed_values(o) + " | " +
                (by_default.empty() ? "" : '`' + by_default.front() + '`') + " | " +
                std::string{o.meaning} + " |\n";
    }
    return text;
}

TEST(uri_reference, page_lists_every_option_with_bounds_and_default)
{
    std::ifstream in{page()};
    const std::string text{std::istreambuf_iterator<char>{in}, {}};
    const std::size_t from = text.find(begins);
    const std::size_t to = text.find(ends);
    ASSERT_NE(from, text.npos) << "docs/connection-string.md";
    ASSERT_NE(to, text.npos);
    EXPECT_EQ(text.substr(from + begins.size(), to - from - begins.size()), reference());
    for (const option_alias& a : all_aliases())
        EXPECT_NE(text.find('`' + std::string{a.name} + '`'), text.npos) << a.name;
}

}  // namespace
}  // namespace holdfast::core::mongo::reference_test
