#include "core/uri/apply_options.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::uri::option_table_test {
namespace {

/// The settings of a protocol that exists only here.
struct settings {
    std::chrono::milliseconds kv_timeout{2500};
    std::optional<bool> compression = {};
    std::vector<std::string> networks = {};
};

template <auto Member>
auto& at(settings& s)
{
    return s.*Member;
}

reading take_networks(settings& to, std::string_view value)
{
    for (const std::string_view one : split_list(value))
        to.networks.emplace_back(one);
    return {};
}

std::vector<std::string> written_networks(const settings& from)
{
    return from.networks;
}

constexpr option<settings> options[] = {
    {.name = "kv_timeout",
     .meaning = "For one operation.",
     .where = at<&settings::kv_timeout>,
     .least = 1},
    {.name = "compression",
     .meaning = "Whether values are compressed.",
     .where = at<&settings::compression>,
     .must_be_valid = true},
    {.name = "network",
     .meaning = "Which addresses are used.",
     .where = custom_value<settings>{take_networks, written_networks},
     .allowed = "names",
     .repeated = if_repeated::is_error},
};
constexpr option_alias aliases[] = {{.name = "kvTimeout", .stands_for = "kv_timeout"}};

const option_table<settings>& table()
{
    static const option_table<settings> all{options, aliases,
                                            make_error_code(boost::system::errc::invalid_argument)};
    return all;
}

result<std::vector<std::string>> apply(std::string_view text, settings& to)
{
    const auto raw = split_options(text, table().invalid_option).value();
    return apply_options(table(), {raw}, to);
}

TEST(option_table, values_of_each_kind_are_taken_into_the_settings)
{
    settings s;
    EXPECT_TRUE(apply("KV_TIMEOUT=500&compression=true&network=a%2Cb,c", s).value().empty());
    EXPECT_EQ(s.kv_timeout, std::chrono::milliseconds{500});
    EXPECT_EQ(s.compression, true);
    EXPECT_EQ(s.networks, (std::vector<std::string>{"a", "b", "c"}));
    EXPECT_EQ(written(*table().find("kv_timeout"), s), std::vector<std::string>{"500"});
    EXPECT_EQ(allowed_values(*table().find("compression")), "true or false");
}

TEST(option_table, unknown_deprecated_and_ignored_options_are_warnings)
{
    settings s;
    const auto warnings = apply("colour=red&kvTimeout=10&kvTimeout=0", s).value();
    ASSERT_EQ(warnings.size(), 4U);
    EXPECT_EQ(warnings[0], "option \"colour\" is unknown and ignored");
    EXPECT_EQ(warnings[1], "kvTimeout: is a deprecated name of kv_timeout");
    EXPECT_EQ(warnings[2], "kv_timeout: given more than once; the last one counts");
    EXPECT_TRUE(warnings[3].starts_with("kv_timeout: the value is not allowed, and ignored"));
}

TEST(option_table, error_has_the_code_of_the_table_and_names_the_option)
{
    for (const std::string_view text : {"compression=maybe", "compression=%FF"}) {
        settings s;
        const auto failed = apply(text, s);
        ASSERT_FALSE(failed) << text;
        EXPECT_EQ(failed.error().code(), table().invalid_option);
        EXPECT_EQ(failed.error().context("option"), "compression");
    }
    settings s;
    EXPECT_EQ(apply("network=a&network=a", s).error().context("option"), "network");
}

TEST(option_text, split_options_refuses_a_part_without_a_name_or_an_equals_sign)
{
    for (const std::string_view text : {"a", "=1", "a=1&b"}) {
        const auto failed = split_options(text, table().invalid_option);
        ASSERT_FALSE(failed) << text;
        EXPECT_EQ(failed.error().code(), table().invalid_option);
    }
    EXPECT_EQ(split_options("a=1&&b=&", table().invalid_option).value().size(), 2U);
}

TEST(option_text, split_list_and_split_pair_keep_all_pieces)
{
    EXPECT_EQ(split_list("").size(), 1U);
    EXPECT_EQ(split_list("a,,b"), (std::vector<std::string_view>{"a", "", "b"}));
    EXPECT_EQ(split_pair("a:b:c").value().value, "b:c");
    EXPECT_FALSE(split_pair(":b"));
    EXPECT_FALSE(split_pair("ab"));
}

TEST(userinfo, characters_that_must_be_escaped_are_refused)
{
    EXPECT_EQ(decode_userinfo("us%40er"), "us@er");
    for (const std::string_view bad : {"a@b", "a:b", "a/b", "a b", "a%4"})
        EXPECT_EQ(decode_userinfo(bad), std::nullopt) << bad;
}

}  // namespace
}  // namespace holdfast::core::uri::option_table_test
