#include "core/mongo/error/server_text.hpp"

#include "core/mongo/error/server_error.hpp"
#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/validate.hpp"
#include "holdfast/mongo/error.hpp"
#include "support/json.hpp"

#include <gtest/gtest.h>

#include <ctime>

/// What a server writes into its errors is kept within limits.
namespace holdfast::core::mongo::server_text_test {
namespace {

TEST(limited_text, up_to_the_limit_is_unchanged_and_beyond_it_names_the_length)
{
    const std::string most(max_server_text, 'x');
    EXPECT_EQ(limited_text(most), most);
    const std::string cut = limited_text(most + "y");
    EXPECT_EQ(cut, most + "... (cut, 16385 bytes in all)");
}

TEST(limited_text, long_text_is_cut_between_characters)
{
    const std::string_view euro = "\xE2\x82\xAC";
    for (std::size_t most = 1; most <= 9; ++most) {
        const std::string text = std::string{euro} + std::string{euro} + std::string{euro} + "!";
        const std::string cut = limited_text(text, most);
        EXPECT_TRUE(bson::is_utf8(cut)) << most;
        EXPECT_EQ(cut.find("..."), most / 3 * 3) << most;
    }
    EXPECT_EQ(limited_text(std::string(20, '\x80'), 10).find("..."), 6U)
        << "what is no UTF-8 is cut near the limit";
}

bson::document failed_with(std::string_view message, std::string_view code_name)
{
    bson::byte_buffer bytes;
    {
        bson::builder out{bytes};
        out.add("ok", 0).add("code", 8).add("errmsg", message).add("codeName", code_name);
    }
    return bson::document::adopt(std::move(bytes));
}

TEST(server_error, long_message_and_code_name_are_cut)
{
    const std::string large(4'000'000, 'm');
    const error made = make_server_error(failed_with(large, large));
    EXPECT_LT(made.message().size(), max_server_text + 100);
    EXPECT_NE(made.message().find("4000000 bytes"), std::string::npos);
    EXPECT_LT(made.context("codeName").size(), max_server_text + 100);
    EXPECT_EQ(make_server_error(failed_with("short", "Name")).message(), "short");
}

TEST(server_error, reply_that_is_kept_has_its_long_texts_cut)
{
    const std::string large(4'000'000, 'm');
    const error made = make_server_error(failed_with(large, "Name"));
    const auto* kept = dynamic_cast<const holdfast::mongo::server_failure*>(made.detail());
    ASSERT_NE(kept, nullptr);
    EXPECT_LT(kept->reply.view().bytes().size(), max_server_text + 200);
    EXPECT_EQ(kept->reply["errmsg"].as_string(), made.message());
    EXPECT_EQ(kept->reply["code"].as_int32(), 8);
    EXPECT_EQ(kept->reply["codeName"].as_string(), "Name");
    const bson::document ordinary = failed_with("short", "Name");
    const error small = make_server_error(ordinary);
    EXPECT_EQ(dynamic_cast<const holdfast::mongo::server_failure&>(*small.detail()).reply,
              ordinary);
}

bson::document labelled(int count, std::string_view last)
{
    bson::byte_buffer bytes;
    {
        bson::builder out{bytes};
        out.add("ok", 0).add("code", 8).add("errmsg", "no");
        auto labels = out.array("errorLabels");
        for (int i = 0; i < count; ++i)
            labels.add("Label" + std::to_string(i));
        labels.add(last);
    }
    return bson::document::adopt(std::move(bytes));
}

TEST(server_error, labels_that_matter_are_kept_however_many_there_are)
{
    for (const char* name : {"RetryableWriteError", "NoWritesPerformed", "SystemOverloadedError",
                             "RetryableError", "TransientTransactionError",
                             "UnknownTransactionCommitResult", "ResumableChangeStreamError"}) {
        const error made = make_server_error(labelled(200, name));
        EXPECT_TRUE(made.has_label(name)) << name;
        EXPECT_EQ(made.labels().size(), max_unknown_labels + 1) << name;
        EXPECT_TRUE(made.has_label("Label0") && made.has_label("Label63"));
    }
    EXPECT_FALSE(make_server_error(labelled(200, "Other")).has_label("Other"));
    EXPECT_TRUE(make_server_error(labelled(20, "Other")).has_label("Other"));
}

TEST(server_error, many_labels_cost_time_in_proportion_to_their_number)
{
    const bson::document reply = labelled(300'000, "RetryableWriteError");
    const std::clock_t began = std::clock();
    const error made = make_server_error(reply);
    // 50 ms in an optimised build; sanitizers need more, the quadratic search needed 20 s.
    EXPECT_LT(static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC, 0.5);
    EXPECT_TRUE(made.has_label("RetryableWriteError"));
}

}  // namespace
}  // namespace holdfast::core::mongo::server_text_test
