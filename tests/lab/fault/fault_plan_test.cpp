#include "lab/fault/fault_plan.hpp"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::lab::fault_plan_test {
namespace {

struct get_request {
    std::string key;
};
using plan = fault_plan<get_request>;

plan::entry closing(activation when)
{
    plan::entry made;
    made.effect.close_connection = true;
    made.when = when;
    return made;
}

std::string hits_of(activation when, double chance = 0.5)
{
    std::string seen;
    for (int n = 0; n != 4; ++n)
        seen += when.hits(chance) ? 'x' : '.';
    return seen;
}

TEST(lab_fault_plan, activation_kinds_hit_the_requests_they_name)
{
    struct row { const char* name; activation when; double chance; const char* expected; };
    const row table[] = {
        {"never",          {},                                 0.0, "...."},
        {"always",         activation::always(),               0.9, "xxxx"},
        {"two times",      activation::times(2),               0.9, "xx.."},
        {"zero times",     activation::times(0),               0.0, "...."},
        {"after two",      activation::after(2),               0.9, "..xx"},
        {"likely",         activation::with_probability(0.6),  0.5, "xxxx"},
        {"less likely",    activation::with_probability(0.5),  0.5, "...."},
    };
    for (const row& r : table)
        EXPECT_EQ(hits_of(r.when, r.chance), r.expected) << r.name;
}

TEST(lab_fault_plan, request_that_no_entry_chooses_neither_fails_nor_counts)
{
    plan faults;
    plan::entry one = closing(activation::times(1));
    one.chooses = [](const get_request& sent) { return sent.key == "a"; };
    EXPECT_EQ(faults.set("one", std::move(one)), 0);
    EXPECT_TRUE(faults.any());
    EXPECT_FALSE(faults.on("one", {"b"}, 0.5));
    EXPECT_FALSE(faults.on("two", {"a"}, 0.5));
    const auto hit = faults.on("one", {"a"}, 0.5);
    ASSERT_TRUE(hit);
    EXPECT_TRUE(hit->close_connection);
    EXPECT_FALSE(faults.any());
    EXPECT_FALSE(faults.on("one", {"a"}, 0.5));
}

TEST(lab_fault_plan, replaced_entry_keeps_its_count)
{
    plan faults;
    (void)faults.set("one", closing(activation::always()));
    (void)faults.on("one", {"a"}, 0.5);
    (void)faults.on("one", {"a"}, 0.5);
    EXPECT_EQ(faults.set("one", {}), 2);
    EXPECT_FALSE(faults.any());
}

TEST(lab_fault_plan, on_any_takes_the_first_entry_that_hits)
{
    plan faults;
    plan::entry slow;
    slow.effect.delay = std::chrono::milliseconds{5};
    slow.when = activation::always();
    (void)faults.set("a", closing(activation::times(1)));
    (void)faults.set("b", std::move(slow));
    EXPECT_TRUE(faults.on_any({"k"}, 0.5)->close_connection);
    EXPECT_EQ(faults.on_any({"k"}, 0.5)->delay.count(), 5);
    faults.clear();
    EXPECT_FALSE(faults.on_any({"k"}, 0.5));
}

}  // namespace
}  // namespace holdfast::lab::fault_plan_test
