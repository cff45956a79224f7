// docs/couchbase-retries.md says what the code does, or this fails.
#include "holdfast/couchbase/retry_reason.hpp"
#include "support/verifies.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace holdfast::couchbase::docs_test {
namespace {

class retry_docs : public ::testing::Test {
protected:
    static std::string read(const std::filesystem::path& path)
    {
        std::ifstream file{path};
        return {std::istreambuf_iterator<char>{file}, {}};
    }
    void SetUp() override
    {
        if (!std::filesystem::exists(root / "docs"))
            GTEST_SKIP() << "this copy of the tree has no docs";
        page = read(root / "docs/couchbase-retries.md");
        ASSERT_FALSE(page.empty());
    }
    bool has(const std::string& text) const { return page.find(text) != page.npos; }

    const std::filesystem::path root = std::filesystem::path{__FILE__}.parent_path() /
                                       "../../../../..";
    std::string page;
};

TEST_F(retry_docs, page_lists_every_reason_with_both_flags)
{
    VERIFIES("CR-061");
    const auto to_text = [](bool flag) { return flag ? " | yes" : " | no"; };
    std::string identifier;
    for (const retry_reason_traits& row : retry_reason_table) {
        identifier.clear();
        for (const char c : row.name)
            identifier += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        const std::string line = "| " + std::string{row.name} + " | " + identifier +
                                 to_text(row.allows_non_idempotent_retry) +
                                 to_text(row.always_retry) + " | ";
        EXPECT_TRUE(has(line)) << line;
    }
}

TEST_F(retry_docs, page_shows_the_code_of_the_example)
{
    const std::string example = read(root / "examples/couchbase_retry_strategy.cpp");
    for (const char* name : {"backoff", "never", "robots", "limit", "later"}) {
        SCOPED_TRACE(name);
        const std::string mark = "// [" + std::string{name} + "]\n";
        const auto begin = example.find(mark);
        ASSERT_NE(begin, example.npos);
        const auto end = example.find(mark, begin + 1);
        ASSERT_NE(end, example.npos);
        EXPECT_TRUE(has("```cpp\n" +
                        example.substr(begin + mark.size(), end - begin - mark.size()) + "```"));
    }
}

}  // namespace
}  // namespace holdfast::couchbase::docs_test
