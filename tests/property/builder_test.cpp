#include "check.hpp"
#include "holdfast/bson/canonical.hpp"
#include "holdfast/bson/validate.hpp"
#include "sample_write.hpp"

#include <algorithm>

namespace holdfast::property::builder_test {
namespace {

TEST(builder_property, random_documents_have_the_bytes_of_libbson)
{
    check([] {
        const choice_bytes bytes = *any_choices();
        choices c{bytes};
        const sample_document sample = make_document(c);
        const bson::document ours = write_with_ours(sample);
        const libbson_document theirs = write_with_libbson(sample);
        if (!std::ranges::equal(ours.bytes(), bytes_of(*theirs)))
            RC_FAIL("ours " + hex(ours.bytes()) + ", libbson's " + hex(bytes_of(*theirs)));
    });
}

TEST(builder_property, random_documents_round_trip)
{
    check([] {
        const choice_bytes bytes = *any_choices();
        choices c{bytes};
        const sample_document sample = make_document(c);
        const bson::document written = write_with_ours(sample);
        const std::string difference = find_difference(written, sample);
        if (!difference.empty())
            RC_FAIL(difference + " in " + hex(written.bytes()));
        RC_ASSERT(bson::validate(written.bytes()).has_value());
        const auto again = bson::canonical(written);
        RC_ASSERT(again.has_value());
        if (*again != written)
            RC_FAIL("canonical " + hex(again->bytes()) + " of " + hex(written.bytes()));
    });
}

}  // namespace
}  // namespace holdfast::property::builder_test
