#include "runtime/alarm_heap.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <random>
#include <vector>

namespace holdfast::runtime::alarm_heap_test {
namespace {

using std::chrono::milliseconds;

/// Writes its name down when it rings.
struct bell final : alarm {
    bell(int name, std::vector<int>& heard) : name_{name}, heard_{heard} {}
    void ring() noexcept override { heard_.push_back(name_); }

    int name_;
    std::vector<int>& heard_;
};

time_point at(int ms)
{
    return time_point{milliseconds{ms}};
}

struct alarm_heaps : ::testing::Test {
    bell& operator[](int name)
    {
        while (bells.size() <= static_cast<std::size_t>(name))
            bells.push_back(std::make_unique<bell>(static_cast<int>(bells.size()), heard));
        return *bells[static_cast<std::size_t>(name)];
    }
    std::vector<int> heard;
    std::vector<std::unique_ptr<bell>> bells;
    alarm_heap heap;
};

TEST_F(alarm_heaps, alarms_ring_in_time_order)
{
    for (const int name : {3, 1, 4, 0, 2})
        heap.set((*this)[name], at(10 * name));

    EXPECT_EQ(heap.next(), at(0));
    EXPECT_EQ(heap.ring_until(at(25)), 3U);
    EXPECT_EQ(heard, (std::vector{0, 1, 2}));
    EXPECT_EQ(heap.next(), at(30));
    EXPECT_EQ(heap.ring_until(at(29)), 0U);
    EXPECT_EQ(heap.ring_until(at(30)), 1U) << "due is who waits for this very moment";
    EXPECT_EQ(heap.size(), 1U);
}

TEST_F(alarm_heaps, equal_times_ring_in_insertion_order)
{
    for (const int name : {5, 2, 7, 0, 9, 1})
        heap.set((*this)[name], at(1));
    heap.set((*this)[2], at(1));  // set again: now the last one

    heap.ring_until(at(1));
    EXPECT_EQ(heard, (std::vector{5, 7, 0, 9, 1, 2}));
}

TEST_F(alarm_heaps, set_reports_a_new_earliest_alarm)
{
    EXPECT_TRUE(heap.set((*this)[0], at(10)));
    EXPECT_FALSE(heap.set((*this)[1], at(20)));
    EXPECT_FALSE(heap.set((*this)[2], at(10))) << "an equal one comes after";
    EXPECT_TRUE(heap.set((*this)[1], at(5)));
    EXPECT_FALSE(heap.set((*this)[1], at(15)));
    EXPECT_EQ(heap.next(), at(10));
}

TEST_F(alarm_heaps, setting_again_moves_the_alarm)
{
    for (int name = 0; name < 5; ++name)
        heap.set((*this)[name], at(10 + name));
    heap.set((*this)[4], at(1));   // earlier
    heap.set((*this)[0], at(99));  // later
    EXPECT_EQ(heap.size(), 5U);

    heap.ring_until(at(100));
    EXPECT_EQ(heard, (std::vector{4, 1, 2, 3, 0}));
    EXPECT_TRUE(heap.empty());
}

TEST_F(alarm_heaps, cleared_alarm_does_not_ring)
{
    for (int name = 0; name < 7; ++name)
        heap.set((*this)[name], at(10 * name));
    heap.clear((*this)[3]);
    heap.clear((*this)[3]);  // need not be set
    heap.clear((*this)[0]);
    heap.clear((*this)[6]);
    heap.set((*this)[4], never);  // also clears

    EXPECT_EQ(heap.size(), 3U);
    heap.ring_until(at(1000));
    EXPECT_EQ(heard, (std::vector{1, 2, 5}));
}

TEST_F(alarm_heaps, empty_heap_has_no_next_time)
{
    EXPECT_EQ(heap.next(), never);
    EXPECT_EQ(heap.ring_until(never), 0U);
    heap.set((*this)[0], never);
    EXPECT_TRUE(heap.empty());
}

TEST_F(alarm_heaps, alarm_can_be_set_again_after_ringing)
{
    heap.set((*this)[0], at(1));
    heap.ring_first();
    heap.set((*this)[0], at(2));
    heap.ring_first();
    EXPECT_EQ(heard, (std::vector{0, 0}));
    EXPECT_TRUE(heap.empty());
}

/// The same by a std::multimap, whose equal keys keep the order in which they came.
class oracle {
public:
    void clear(int name)
    {
        for (auto it = times_.begin(); it != times_.end(); ++it) {
            if (it->second == name) {
                times_.erase(it);
                return;
            }
        }
    }
    void set(int name, time_point when)
    {
        clear(name);
        if (when != never)
            times_.emplace(when, name);
    }
    void ring_until(time_point now, std::vector<int>& heard)
    {
        for (; !times_.empty() && times_.begin()->first <= now; times_.erase(times_.begin()))
            heard.push_back(times_.begin()->second);
    }
    time_point next() const { return times_.empty() ? never : times_.begin()->first; }
    std::size_t size() const { return times_.size(); }

private:
    std::multimap<time_point, int> times_;
};

TEST_F(alarm_heaps, random_operations_match_a_multimap)
{
    constexpr int names = 40;
    for (unsigned seed = 0; seed < 20; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random{seed};
        const auto below = [&random](int limit) {
            return static_cast<int>(random() % static_cast<unsigned>(limit));
        };
        oracle expected;
        std::vector<int> expected_rings;
        heard.clear();
        int now = 0;
        for (int step = 0; step < 2000; ++step) {
            const int name = below(names);
            const int what = below(10);
            if (what < 6) {
                const time_point when = below(20) == 0 ? never : at(now + below(50));
                heap.set((*this)[name], when);
                expected.set(name, when);
            } else if (what < 8) {
                heap.clear((*this)[name]);
                expected.clear(name);
            } else {
                now += below(10);
                heap.ring_until(at(now));
                expected.ring_until(at(now), expected_rings);
            }
            ASSERT_EQ(heap.next(), expected.next()) << "step " << step;
            ASSERT_EQ(heap.size(), expected.size()) << "step " << step;
            ASSERT_EQ(heard.size(), expected_rings.size()) << "step " << step;
        }
        heap.ring_until(at(now + 100));
        expected.ring_until(at(now + 100), expected_rings);
        ASSERT_EQ(heard, expected_rings);
        ASSERT_GT(heard.size(), 100U) << "too little rang to prove anything";
    }
}

}  // namespace
}  // namespace holdfast::runtime::alarm_heap_test
