#pragma once
#include "lab/mongo/storage/collection.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

namespace holdfast::lab {

/// The documents of a collection by record, each with what it was before. Small documents that were
/// written one after the other share a block of memory, and 64 records a node of the map.
class record_store {
public:
    record_store() = default;
    record_store(const record_store&) = delete;
    record_store& operator=(const record_store&) = delete;
    ~record_store();

    /// What a record remembers besides its document.
    struct marks {
        std::uint64_t id_hash = 0;
        record_id same_id_before = 0;  // an older record, by now dead, that had the same _id
    };

    record_id add(bson::view document, const marks& marked, bson::timestamp at);
    void replace(record_id which, bson::view document, bson::timestamp at);
    /// True if nothing of it remains, for no read could see it: the caller forgets it as well.
    bool remove(record_id which, bson::timestamp at);
    /// At once and with its history.
    void vanish(record_id which);

    /// The first one that is alive. Dead ones before it are not walked over again next time.
    std::optional<record> oldest();
    std::optional<record> next(record_id after, const read_time& at) const;
    std::optional<record> previous(record_id before, const read_time& at) const;
    std::optional<record> find(record_id which, const read_time& at) const;
    /// What a dead record was last, as long as that is remembered.
    std::optional<record> last_state(record_id which) const;
    const marks* marks_of(record_id which) const;  // also of a dead one; null if it is gone

    std::size_t count() const noexcept { return count_; }
    std::int64_t bytes() const noexcept { return bytes_; }

    /// Calls `gone(record_id, marks)` for dead records that no read can see any more.
    template <class Gone>
    void forget_before(bson::timestamp oldest, Gone&& gone)
    {
        while (!superseded_.empty() && superseded_.front().at <= oldest) {
            const record_id which = superseded_.front().which;
            superseded_.pop_front();
            if (const std::optional<marks> of = trim(which, oldest))
                gone(which, *of);
        }
    }

private:
    struct version;
    struct block;
    static constexpr record_id per_chunk = 64;
    struct chunk {
        std::uint64_t used = 0;  // one bit for each record, dead ones too
        std::uint64_t live = 0;
        std::array<version*, per_chunk> newest{};
    };
    struct ended {
        bson::timestamp at;
        record_id which;
    };

    version* make(bson::view document, const marks& marked, bson::timestamp at, version* older);
    void* room_for(std::size_t bytes, block*& in);
    void release(version* newest) noexcept;
    static const version* seen(const version* newest, const read_time& at) noexcept;
    chunk* chunk_of(record_id which);
    version* newest(record_id which) const;
    void erase(record_id which);
    std::optional<marks> trim(record_id which, bson::timestamp oldest);
    static std::optional<record> record_of(record_id id, const version* what) noexcept;

    std::map<record_id, chunk> chunks_;  // by record / 64
    chunk* last_chunk_ = nullptr;  // where the next record goes, most often
    block* filling_ = nullptr;  // where the next small document goes
    record_id next_ = 1;
    record_id first_live_ = 0;  // no chunk before this one has a live record, nor ever will
    std::size_t count_ = 0;
    std::int64_t bytes_ = 0;
    std::deque<ended> superseded_;  // what forget_before has to look at, in order of time
};

}  // namespace holdfast::lab
