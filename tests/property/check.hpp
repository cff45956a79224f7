#pragma once
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

namespace holdfast::property {

/// The bytes that a document, a text or a mutation is made of; see choices.
using choice_bytes = std::vector<std::uint8_t>;

/// Any bytes at all, up to max_choices of them. RapidCheck alone would begin with small numbers.
inline constexpr int max_choices = 300;
rc::Gen<choice_bytes> any_choices();
rc::Gen<choice_bytes> few_choices();  // a tenth of that

/// How many times a property is tried: 100,000, fewer in a sanitizer, or what the environment
/// variable HOLDFAST_PROPERTY_COUNT says.
int property_count();

/// Always the same tries, so that a run which was green stays green. RC_PARAMS="seed=7" makes other
/// ones, and is how to look further than a commit needs.
inline constexpr std::uint64_t usual_seed = 20'261'115;

/// Checks a property that often. RC_PARAMS works as always; a failure prints its seed.
template <class Property>
void check(Property&& property, int count = property_count())
{
    rc::detail::TestParams params = rc::detail::configuration().testParams;
    if (!std::getenv("RC_PARAMS"))
        params.seed = usual_seed;
    params.maxSuccess = count;
    params.maxSize = max_choices;
    const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
    rc::detail::TestMetadata name;
    name.id = std::string{test->test_suite_name()} + "/" + test->name();
    name.description = test->name();
    const auto result = rc::detail::checkTestable(std::forward<Property>(property), name, params);
    if (result.template is<rc::detail::SuccessResult>())
        return;
    std::ostringstream story;
    rc::detail::printResultMessage(result, story);
    FAIL() << story.str() << "\nThe seed: RC_PARAMS=\"seed=" << params.seed << '"';
}

}  // namespace holdfast::property
