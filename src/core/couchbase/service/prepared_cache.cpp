#include "core/couchbase/service/prepared_cache.hpp"

namespace holdfast::core::couchbase {

prepared_cache::prepared_cache(std::size_t capacity, std::size_t max_bytes) noexcept
    : capacity_{capacity}, max_bytes_{max_bytes}
{
}

const prepared_plan* prepared_cache::find(std::string_view statement,
                                          std::string_view query_context)
{
    const auto found = by_key_.find({statement, query_context});
    if (found == by_key_.end())
        return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return &found->second->plan;
}

void prepared_cache::put(std::string_view statement, std::string_view query_context,
                         prepared_plan plan)
{
    if (const auto found = by_key_.find({statement, query_context}); found != by_key_.end())
        remove(found->second);
    entry made{std::string{statement}, std::string{query_context}, std::move(plan)};
    const std::size_t size = made.bytes();
    if (capacity_ == 0 || size > max_bytes_)
        return;
    while (entries_.size() >= capacity_ || bytes_ + size > max_bytes_)
        remove(std::prev(entries_.end()));
    entries_.push_front(std::move(made));
    by_key_.emplace(key{entries_.front().statement, entries_.front().query_context},
                    entries_.begin());
    bytes_ += size;
}

void prepared_cache::drop(std::string_view statement, std::string_view query_context,
                          const prepared_plan& refused)
{
    const auto found = by_key_.find({statement, query_context});
    if (found != by_key_.end() && found->second->plan == refused)
        remove(found->second);
}

void prepared_cache::clear() noexcept
{
    by_key_.clear();
    entries_.clear();
    bytes_ = 0;
}

void prepared_cache::remove(entries::iterator which)
{
    bytes_ -= which->bytes();
    by_key_.erase({which->statement, which->query_context});
    entries_.erase(which);
}

}  // namespace holdfast::core::couchbase
