#pragma once
#include "lab/mongo/storage/collection.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace holdfast::lab {

/// From the hash of an _id to the newest record that has it. Open addressing, so that an insert
/// allocates nothing; it is never iterated.
class id_table {
public:
    /// The first record with this hash for which `is_it(record_id)` holds; 0 if there is none.
    template <class IsIt>
    record_id find(std::uint64_t hash, IsIt&& is_it) const
    {
        if (slots_.empty())
            return 0;
        for (std::size_t i = home(hash); slots_[i].record != 0; i = after(i)) {
            if (slots_[i].hash == hash && is_it(slots_[i].record))
                return slots_[i].record;
        }
        return 0;
    }

    void add(std::uint64_t hash, record_id record)
    {
        if ((used_ + 1) * 4 > slots_.size() * 3)
            grow();
        std::size_t i = home(hash);
        while (slots_[i].record != 0)
            i = after(i);
        slots_[i] = {hash, record};
        ++used_;
    }

    /// `to` has the _id that the dead record `from` had.
    void move(std::uint64_t hash, record_id from, record_id to)
    {
        if (const std::size_t i = place(hash, from); i != nowhere)
            slots_[i].record = to;
    }

    void remove(std::uint64_t hash, record_id record)
    {
        std::size_t hole = place(hash, record);
        if (hole == nowhere)
            return;
        // Close the gap: an entry that stands further from home than the hole may step into it.
        for (std::size_t i = after(hole); slots_[i].record != 0; i = after(i)) {
            if (((i - home(slots_[i].hash)) & mask()) >= ((i - hole) & mask())) {
                slots_[hole] = slots_[i];
                hole = i;
            }
        }
        slots_[hole] = {};
        --used_;
    }

private:
    struct slot {
        std::uint64_t hash = 0;
        record_id record = 0;  // 0: empty
    };
    static constexpr std::size_t nowhere = SIZE_MAX;

    std::size_t mask() const noexcept { return slots_.size() - 1; }
    std::size_t after(std::size_t i) const noexcept { return (i + 1) & mask(); }
    std::size_t home(std::uint64_t hash) const noexcept
    {
        return static_cast<std::size_t>(hash) & mask();
    }
    std::size_t place(std::uint64_t hash, record_id record) const noexcept
    {
        if (slots_.empty())
            return nowhere;
        for (std::size_t i = home(hash); slots_[i].record != 0; i = after(i)) {
            if (slots_[i].record == record)
                return i;
        }
        return nowhere;
    }
    void grow()
    {
        std::vector<slot> before(slots_.empty() ? 16 : slots_.size() * 2);
        before.swap(slots_);
        used_ = 0;
        for (const slot& s : before) {
            if (s.record != 0)
                add(s.hash, s.record);
        }
    }

    std::vector<slot> slots_;  // a power of two, never full
    std::size_t used_ = 0;
};

}  // namespace holdfast::lab
