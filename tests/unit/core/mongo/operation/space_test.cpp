#include "core/mongo/operation/space.hpp"

#include "core/mongo/error/errc.hpp"
#include "holdfast/bson/builder.hpp"
#include "unit/core/mongo/operation/operation_fixture.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::mongo::space_test {
namespace {

namespace given = holdfast::mongo;
using namespace std::chrono_literals;

TEST(operation_space, write_concern_is_copied_or_refused_with_the_option)
{
    struct row {
        const char* why;
        given::write_concern given;
        const char* expected;  // what is sent, or the option that is wrong
    };
    const row table[] = {
        {"nothing said", {}, "{}"},
        {"a number", {.w = 2}, R"({"w": 2})"},
        {"unacknowledged", given::unacknowledged, R"({"w": 0})"},
        {"majority", given::majority, R"({"w": "majority"})"},
        {"all",
         {.w = 1, .tag = {}, .journal = true, .wtimeout = 5ms},
         R"({"w": 1, "j": true, "wtimeout": {"$numberLong": "5"}})"},
        {"a number and a name", {.w = 1, .tag = "majority"}, "w"},
        {"a negative number", {.w = -1}, "w"},
        {"journal without acknowledgement", {.w = 0, .tag = {}, .journal = true}, "journal"},
        {"time runs forward", {.w = 1, .tag = {}, .journal = {}, .wtimeout = -1ms}, "wTimeoutMS"},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.why);
        const auto owned = own(r.given);
        if (r.expected[0] == '{')
            EXPECT_EQ(shown(to_document(owned.value())), normal(r.expected));
        else
            EXPECT_EQ(refused_option(owned), r.expected);
    }
}

TEST(operation_space, read_concern_level_is_copied)
{
    EXPECT_TRUE(own(given::read_concern{}).is_default());
    EXPECT_EQ(own(given::read_concern{.level = "majority"}).level, "majority");
}

TEST(operation_space, read_preference_is_copied_or_refused_with_the_option)
{
    const bson::array tags = array_of(R"([{"dc": "ny", "rack": "2"}, {}])");
    const auto owned = own(given::read_preference{.mode = given::read_mode::secondary_preferred,
                                                  .tag_sets = tags.view(),
                                                  .max_staleness = 120s});
    ASSERT_TRUE(owned);
    EXPECT_EQ(owned->mode, read_mode::secondary_preferred);
    ASSERT_EQ(owned->tag_sets.size(), 2u);
    EXPECT_EQ(owned->tag_sets[0], (tag_set{{"dc", "ny"}, {"rack", "2"}}));
    EXPECT_TRUE(owned->tag_sets[1].empty());
    EXPECT_EQ(owned->max_staleness, 120s);

    const auto with_tags = [](given::read_mode mode, const bson::array& sets) {
        return own(given::read_preference{.mode = mode, .tag_sets = sets.view()});
    };
    const auto with_staleness = [](given::read_mode mode, std::chrono::seconds longest) {
        return own(given::read_preference{.mode = mode, .tag_sets = {}, .max_staleness = longest});
    };
    using given::read_mode::nearest;
    using given::read_mode::primary;
    EXPECT_EQ(refused_option(with_tags(primary, tags)), "tag_sets");
    EXPECT_TRUE(with_tags(primary, array_of("[{}]"))) << "a set that every server matches";
    EXPECT_EQ(refused_option(with_tags(nearest, array_of(R"(["ny"])"))), "tag_sets");
    EXPECT_EQ(refused_option(with_tags(nearest, array_of(R"([{"dc": 1}])"))), "tag_sets");
    EXPECT_EQ(refused_option(with_staleness(primary, 120s)), "max_staleness");
    EXPECT_EQ(refused_option(with_staleness(nearest, 0s)), "max_staleness");
    EXPECT_FALSE(with_staleness(nearest, -1s).value().max_staleness) << "-1 is none";
}

TEST(operation_space, every_public_read_mode_maps_to_its_core_mode)
{
    const std::pair<given::read_mode, read_mode> table[] = {
        {given::read_mode::primary, read_mode::primary},
        {given::read_mode::primary_preferred, read_mode::primary_preferred},
        {given::read_mode::secondary, read_mode::secondary},
        {given::read_mode::secondary_preferred, read_mode::secondary_preferred},
        {given::read_mode::nearest, read_mode::nearest},
    };
    for (const auto& [theirs, ours] : table)
        EXPECT_EQ(own(given::read_preference{.mode = theirs}).value().mode, ours);
}

TEST(operation_space, unset_options_keep_the_inherited_settings)
{
    operation_space before = a_space();
    before.write_concern = {.w = 1};
    before.read_concern = {"local"};
    before.timeout = 1s;

    EXPECT_EQ(with(before, {}).value().write_concern, before.write_concern);
    EXPECT_EQ(with(before, {}).value().timeout, 1s);

    const operation_space after =
        with(before, {.write_concern = given::majority,
                      .read_concern = given::read_concern{"majority"},
                      .read_preference = given::read_preference{.mode = given::read_mode::nearest}})
            .value();
    EXPECT_EQ(after.full_name(), "sea.coll");
    EXPECT_EQ(after.write_concern, (write_concern{.w = "majority"}));
    EXPECT_EQ(after.read_concern, (read_concern{"majority"}));
    EXPECT_EQ(after.read_preference.mode, read_mode::nearest);
    EXPECT_EQ(after.timeout, 1s);
    EXPECT_EQ(with(before, {.timeout = 2s}).value().timeout, 2s);

    EXPECT_EQ(refused_option(with(before, {.write_concern = given::write_concern{.w = -1}})), "w");
    EXPECT_EQ(refused_option(
                  with(before, {.read_preference = given::read_preference{.max_staleness = 100s}})),
              "max_staleness");
    EXPECT_EQ(refused_option(with(before, {.timeout = -1ms})), "timeout");
}

TEST(operation_space, write_concern_of_the_operation_overrides_the_inherited)
{
    struct row {
        const char* why;
        write_concern of_space;
        std::optional<given::write_concern> of_operation;
        const char* sent;
        bool acknowledged;
    };
    const row table[] = {
        {"the server's default is not sent", {}, {}, "{}", true},
        {"the space's", {.w = 1}, {}, R"({"writeConcern": {"w": 1}})", true},
        {"the space's, without answer", {.w = 0}, {}, R"({"writeConcern": {"w": 0}})", false},
        {"the operation's",
         {.w = 0},
         given::majority,
         R"({"writeConcern": {"w": "majority"}})",
         true},
        {"the operation wants the server's default", {.w = 0}, given::write_concern{}, "{}", true},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.why);
        operation_space space = a_space();
        space.write_concern = r.of_space;
        command to;
        bson::byte_buffer bytes;
        bson::builder out{bytes};
        ASSERT_TRUE(put_write_concern(out, to, space, r.of_operation));
        EXPECT_EQ(shown(out.finish().value()), normal(r.sent));
        EXPECT_EQ(to.acknowledged, r.acknowledged);
    }
}

TEST(operation_space, read_concern_and_preference_of_the_operation_override)
{
    operation_space space = a_space();
    space.read_concern = {"local"};
    space.read_preference.mode = read_mode::secondary;

    command plain;
    ASSERT_TRUE(make_read(plain, space, {}, {}));
    EXPECT_EQ(plain.kind, retry_kind::read);
    EXPECT_EQ(plain.selects, operation_kind::read);
    EXPECT_TRUE(plain.eligible);
    EXPECT_TRUE(plain.reads);
    EXPECT_EQ(plain.read_concern.level, "local");
    EXPECT_EQ(plain.preference.mode, read_mode::secondary);

    command other;
    ASSERT_TRUE(make_read(other, space, given::read_concern{},
                          given::read_preference{.mode = given::read_mode::nearest}));
    EXPECT_TRUE(other.read_concern.is_default());
    EXPECT_EQ(other.preference.mode, read_mode::nearest);

    command refused;
    EXPECT_FALSE(make_read(refused, space, {}, given::read_preference{.max_staleness = 100s}));
}

}  // namespace
}  // namespace holdfast::core::mongo::space_test
