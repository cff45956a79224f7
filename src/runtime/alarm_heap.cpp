#include "runtime/alarm_heap.hpp"

#include <cassert>

namespace holdfast::runtime {

bool alarm_heap::set(alarm& which, time_point when)
{
    if (when == never) {
        clear(which);
        return false;
    }
    const entry what{when, orders_++, &which};
    if (which.position_ == alarm::nowhere) {
        heap_.push_back(what);
        sift_up(heap_.size() - 1, what);
    } else if (const std::size_t at = which.position_; what < heap_[at]) {
        sift_up(at, what);
    } else {
        sift_down(at, what);
    }
    return which.position_ == 0;
}

void alarm_heap::clear(alarm& which) noexcept
{
    if (which.position_ != alarm::nowhere)
        remove(which.position_);
}

std::size_t alarm_heap::ring_until(time_point now) noexcept
{
    std::size_t rung = 0;
    for (; next() <= now && !heap_.empty(); ++rung)
        ring_first();
    return rung;
}

void alarm_heap::ring_first() noexcept
{
    assert(!heap_.empty());
    alarm& which = *heap_.front().which;
    remove(0);
    which.ring();
}

void alarm_heap::place(std::size_t position, const entry& what) noexcept
{
    heap_[position] = what;
    what.which->position_ = position;
}

void alarm_heap::sift_up(std::size_t position, const entry& what) noexcept
{
    while (position > 0) {
        const std::size_t parent = (position - 1) / 2;
        if (!(what < heap_[parent]))
            break;
        place(position, heap_[parent]);
        position = parent;
    }
    place(position, what);
}

void alarm_heap::sift_down(std::size_t position, const entry& what) noexcept
{
    for (;;) {
        std::size_t child = 2 * position + 1;
        if (child >= heap_.size())
            break;
        if (child + 1 < heap_.size() && heap_[child + 1] < heap_[child])
            ++child;
        if (!(heap_[child] < what))
            break;
        place(position, heap_[child]);
        position = child;
    }
    place(position, what);
}

void alarm_heap::remove(std::size_t position) noexcept
{
    heap_[position].which->position_ = alarm::nowhere;
    const entry last = heap_.back();
    heap_.pop_back();
    if (position == heap_.size())
        return;
    if (position > 0 && last < heap_[(position - 1) / 2])
        sift_up(position, last);
    else
        sift_down(position, last);
}

}  // namespace holdfast::runtime
