#include "core/couchbase/config/revision.hpp"
#include "support/config_text.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::couchbase::peek_test {
namespace {

using proof::config_layout;

constexpr config_revision with_epoch(std::int64_t epoch, std::int64_t rev)
{
    return {.epoch = epoch, .rev = rev};
}

TEST(config_revision, epoch_counts_first_and_its_absence_is_lower_than_any)
{
    EXPECT_LT(with_epoch(1, 900), with_epoch(2, 1));
    EXPECT_LT(with_epoch(2, 1), with_epoch(2, 2));
    EXPECT_EQ(with_epoch(2, 2), with_epoch(2, 2));
    EXPECT_LT((config_revision{.rev = 900}), with_epoch(0, 1));
    EXPECT_LT((config_revision{.rev = 1}), (config_revision{.rev = 2}));
}

TEST(peek_revision, finds_the_revision_wherever_servers_have_it)
{
    struct row {
        std::string_view text;
        std::optional<config_revision> expected;
    };
    const std::string filler = R"("nodes":[{"rev":1,"revEpoch":9}],)" + std::string(600, ' ');
    const std::string mixed = R"({"rev":7,)" + filler + R"("revEpoch":3})";
    const std::string back = "{" + filler + R"("name":"a \\\"b","revEpoch": 3 , "rev":7}  )" + "\n";
    const row table[] = {
        {R"({"rev":120,"revEpoch":1,"name":"x"})", with_epoch(1, 120)},
        {"{ \"rev\" :\n 120 ,\n\"revEpoch\" : 1 }", with_epoch(1, 120)},
        {R"({"revEpoch":1,"name":"x","uri":"/a?b=c","ok":true,"rev":0})", with_epoch(1, 0)},
        {R"({"rev":120,"name":"x","nodesExt":[]})", config_revision{.rev = 120}},
        {mixed, with_epoch(3, 7)},
        {R"({"nodes":[],"x":"y","rev":7,"revEpoch":3})", with_epoch(3, 7)},
        {R"({"rev":9223372036854775807,"revEpoch":0})", with_epoch(0, INT64_MAX)},
    };
    for (const row& r : table)
        EXPECT_EQ(peek_revision(r.text), r.expected) << r.text;
    EXPECT_EQ(peek_revision(back), with_epoch(3, 7));
}

TEST(peek_revision, uncertain_configuration_has_no_revision)
{
    const std::string far = R"({"rev":7,"nodes":[],"revEpoch":3,"uri":")" + std::string(600, 'u') +
                            R"("})";
    for (const std::string_view text : {
             std::string_view{},
             std::string_view{"{}"},
             std::string_view{"[]"},
             std::string_view{R"({"nodes":[{"rev":1,"revEpoch":2}]})"},
             std::string_view{R"({"name":"\"rev\":1","x":["rev",1]})"},
             std::string_view{R"({"a":[],"x\"rev":7})"},
             std::string_view{R"({"rev":-1,"revEpoch":2})"},
             std::string_view{R"({"rev":1.0,"revEpoch":2})"},
             std::string_view{R"({"rev":1e3,"revEpoch":2})"},
             std::string_view{R"({"rev":01,"revEpoch":2})"},
             std::string_view{R"({"rev":9223372036854775808,"revEpoch":2})"},
             std::string_view{R"({"rev":"1","revEpoch":2})"},
             std::string_view{R"({"rev":1,"revEpoch":null})"},
             std::string_view{R"({"rev":12)"},
             std::string_view{far},
         })
        EXPECT_EQ(peek_revision(text), std::nullopt) << text;
}

TEST(peek_revision, every_prefix_of_a_configuration_is_harmless)
{
    const std::string text = proof::config_text(proof::sample_config());
    for (std::size_t size = 0; size < text.size(); ++size) {
        const auto seen = peek_revision(std::string_view{text}.substr(0, size));
        EXPECT_TRUE(!seen || seen->rev == 10) << size;
    }
}

TEST(peek_revision, agrees_with_the_parsed_configuration_in_every_layout)
{
    using place = config_layout::place;
    for (const bool has_epoch : {true, false})
        for (const place where : {place::front, place::back})
            for (const bool epoch_first : {true, false})
                for (const bool spaces : {true, false}) {
                    auto config = proof::sample_config();
                    if (!has_epoch)
                        config.revision.epoch.reset();
                    const std::string text = proof::config_text(
                        config, {.revision = where, .epoch_first = epoch_first, .spaces = spaces});
                    EXPECT_EQ(peek_revision(text), config.revision) << text;
                }
}

}  // namespace
}  // namespace holdfast::core::couchbase::peek_test
