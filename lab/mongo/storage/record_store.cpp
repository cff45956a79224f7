#include "lab/mongo/storage/record_store.hpp"

#include <bit>
#include <cassert>
#include <cstring>
#include <iterator>
#include <new>
#include <utility>

namespace holdfast::lab {

/// Memory of several versions; it goes when the last of them has gone. One trip to the heap for
/// many documents, and the heap grows by larger steps.
struct record_store::block {
    std::size_t size = 0;
    std::size_t used = sizeof(block);
    std::size_t versions = 0;
};

/// One state of a document; its bytes follow at once.
struct record_store::version {
    block* in = nullptr;  // null: in memory of its own
    version* older = nullptr;
    marks marked;
    bson::timestamp at;
    std::uint32_t size = 0;  // 0: deleted

    std::uint8_t* bytes() noexcept { return reinterpret_cast<std::uint8_t*>(this + 1); }
    const std::uint8_t* bytes() const noexcept
    {
        return reinterpret_cast<const std::uint8_t*>(this + 1);
    }
};

namespace {

constexpr std::size_t first_block = 4 * 1024;
constexpr std::size_t usual_block = 64 * 1024;
// A sanitizer that is to find a use after the end of a document needs each in memory of its own.
#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t largest_shared = 0;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr std::size_t largest_shared = 0;
#else
constexpr std::size_t largest_shared = 2 * 1024;
#endif
#else
constexpr std::size_t largest_shared = 2 * 1024;
#endif

constexpr std::uint64_t bit(record_id which) noexcept
{
    return std::uint64_t{1} << (which & 63);
}

constexpr record_id chunk_number(record_id which) noexcept
{
    return which >> 6;
}

}  // namespace

record_store::~record_store()
{
    for (auto& [number, part] : chunks_) {
        for (version* each : part.newest)
            release(each);
    }
    ::operator delete(filling_);
}

void* record_store::room_for(std::size_t bytes, block*& in)
{
    bytes = (bytes + alignof(version) - 1) & ~(alignof(version) - 1);
    in = nullptr;
    if (bytes > largest_shared)
        return ::operator new(bytes);
    if (filling_ == nullptr || filling_->size - filling_->used < bytes) {
        const std::size_t size = filling_ == nullptr ? first_block : usual_block;
        filling_ = new (::operator new(size)) block{.size = size};  // the former has its versions
    }
    in = filling_;
    ++in->versions;
    return reinterpret_cast<std::uint8_t*>(in) + std::exchange(in->used, in->used + bytes);
}

record_store::version* record_store::make(bson::view document, const marks& marked,
                                          bson::timestamp at, version* older)
{
    block* in = nullptr;
    void* const room = room_for(sizeof(version) + document.size(), in);
    auto* const made = new (room)
        version{in, older, marked, at, static_cast<std::uint32_t>(document.size())};
    std::memcpy(made->bytes(), document.data(), document.size());
    return made;
}

void record_store::release(version* newest) noexcept
{
    while (newest != nullptr) {
        version* const older = newest->older;
        block* const in = newest->in;
        newest->~version();
        if (in == nullptr)
            ::operator delete(newest);
        else if (--in->versions == 0 && in == filling_)
            in->used = sizeof(block);
        else if (in->versions == 0)
            ::operator delete(in);
        newest = older;
    }
}

const record_store::version* record_store::seen(const version* newest, const read_time& at) noexcept
{
    while (at && newest != nullptr && newest->at > *at)
        newest = newest->older;
    return newest != nullptr && newest->size != 0 ? newest : nullptr;
}

std::optional<record> record_store::record_of(record_id id, const version* what) noexcept
{
    if (what == nullptr)
        return {};
    return record{id, bson::view::trusted(what->bytes())};
}

record_store::chunk* record_store::chunk_of(record_id which)
{
    const auto found = chunks_.find(chunk_number(which));
    return found == chunks_.end() ? nullptr : &found->second;
}

record_store::version* record_store::newest(record_id which) const
{
    if (which <= 0)
        return nullptr;
    const auto found = chunks_.find(chunk_number(which));
    return found == chunks_.end() ? nullptr
                                  : found->second.newest[static_cast<std::size_t>(which & 63)];
}

record_id record_store::add(bson::view document, const marks& marked, bson::timestamp at)
{
    const record_id id = next_++;
    if (last_chunk_ == nullptr || (id & 63) == 0) {
        if (last_chunk_ != nullptr && last_chunk_->used == 0)
            chunks_.erase(std::prev(chunks_.end()));
        last_chunk_ = &chunks_.try_emplace(chunks_.end(), chunk_number(id))->second;
    }
    last_chunk_->newest[static_cast<std::size_t>(id & 63)] = make(document, marked, at, nullptr);
    last_chunk_->used |= bit(id);
    last_chunk_->live |= bit(id);
    ++count_;
    bytes_ += static_cast<std::int64_t>(document.size());
    return id;
}

void record_store::replace(record_id which, bson::view document, bson::timestamp at)
{
    chunk* const part = chunk_of(which);
    assert(part != nullptr && (part->live & bit(which)) != 0);
    version*& now = part->newest[static_cast<std::size_t>(which & 63)];
    bytes_ += static_cast<std::int64_t>(document.size()) - std::int64_t{now->size};
    version* const made = make(document, now->marked, at, now);
    if (now->at == at) {  // no read can see a difference
        made->older = std::exchange(now->older, nullptr);
        release(now);
    } else {
        superseded_.push_back({at, which});
    }
    now = made;
}

bool record_store::remove(record_id which, bson::timestamp at)
{
    chunk* const part = chunk_of(which);
    if (part == nullptr || (part->live & bit(which)) == 0)
        return false;
    version*& now = part->newest[static_cast<std::size_t>(which & 63)];
    if (now->at == at && now->older == nullptr) {
        vanish(which);
        return true;
    }
    --count_;
    bytes_ -= now->size;
    part->live &= ~bit(which);
    version* before = now;
    if (now->at == at) {
        before = std::exchange(now->older, nullptr);
        release(now);
    }
    block* in = nullptr;
    void* const room = room_for(sizeof(version), in);
    now = new (room) version{in, before, before->marked, at, 0};
    superseded_.push_back({at, which});
    return false;
}

void record_store::vanish(record_id which)
{
    chunk* const part = chunk_of(which);
    if (part == nullptr || (part->used & bit(which)) == 0)
        return;
    if ((part->live & bit(which)) != 0) {
        --count_;
        bytes_ -= part->newest[static_cast<std::size_t>(which & 63)]->size;
    }
    erase(which);
}

void record_store::erase(record_id which)
{
    const auto found = chunks_.find(chunk_number(which));
    chunk& part = found->second;
    release(std::exchange(part.newest[static_cast<std::size_t>(which & 63)], nullptr));
    part.used &= ~bit(which);
    part.live &= ~bit(which);
    if (part.used == 0 && &part != last_chunk_)
        chunks_.erase(found);
}

std::optional<record> record_store::oldest()
{
    auto part = chunks_.lower_bound(first_live_);
    while (part != chunks_.end() && part->second.live == 0)
        ++part;
    first_live_ = part == chunks_.end() ? chunk_number(next_) : part->first;
    if (part == chunks_.end())
        return {};
    const int i = std::countr_zero(part->second.live);
    return record_of(part->first * per_chunk + i, part->second.newest[static_cast<std::size_t>(i)]);
}

std::optional<record> record_store::next(record_id after, const read_time& at) const
{
    const record_id from = after < 0 ? 1 : after + 1;
    std::uint64_t wanted = ~std::uint64_t{0} << (from & 63);
    for (auto part = chunks_.lower_bound(chunk_number(from)); part != chunks_.end(); ++part) {
        if (part->first != chunk_number(from))
            wanted = ~std::uint64_t{0};
        std::uint64_t bits = (at ? part->second.used : part->second.live) & wanted;
        for (; bits != 0; bits &= bits - 1) {
            const int i = std::countr_zero(bits);
            const version* what = seen(part->second.newest[static_cast<std::size_t>(i)], at);
            if (what != nullptr)
                return record_of(part->first * per_chunk + i, what);
        }
    }
    return {};
}

std::optional<record> record_store::previous(record_id before, const read_time& at) const
{
    const record_id from = before <= 0 || before > next_ ? next_ - 1 : before - 1;
    if (from <= 0)
        return {};
    std::uint64_t wanted = ~std::uint64_t{0} >> (63 - (from & 63));
    for (auto part = chunks_.upper_bound(chunk_number(from)); part != chunks_.begin();) {
        --part;
        if (part->first != chunk_number(from))
            wanted = ~std::uint64_t{0};
        std::uint64_t bits = (at ? part->second.used : part->second.live) & wanted;
        while (bits != 0) {
            const int i = 63 - std::countl_zero(bits);
            bits &= ~(std::uint64_t{1} << i);
            const version* what = seen(part->second.newest[static_cast<std::size_t>(i)], at);
            if (what != nullptr)
                return record_of(part->first * per_chunk + i, what);
        }
    }
    return {};
}

std::optional<record> record_store::find(record_id which, const read_time& at) const
{
    return record_of(which, seen(newest(which), at));
}

std::optional<record> record_store::last_state(record_id which) const
{
    const version* now = newest(which);
    while (now != nullptr && now->size == 0)
        now = now->older;
    return record_of(which, now);
}

const record_store::marks* record_store::marks_of(record_id which) const
{
    const version* const now = newest(which);
    return now == nullptr ? nullptr : &now->marked;
}

std::optional<record_store::marks> record_store::trim(record_id which, bson::timestamp oldest)
{
    version* now = newest(which);
    version* last_needed = now;
    while (last_needed != nullptr && last_needed->at > oldest)
        last_needed = last_needed->older;
    if (last_needed == nullptr)
        return {};
    release(std::exchange(last_needed->older, nullptr));
    if (last_needed != now || now->size != 0)
        return {};
    const marks of = now->marked;
    erase(which);
    return of;
}

}  // namespace holdfast::lab
