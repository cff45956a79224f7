#pragma once
#include <cstddef>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::core::couchbase {

/// What the server knows a prepared statement by.
struct prepared_plan {
    std::string name = {};
    std::string encoded_plan = {};  // empty: servers find it by the name

    friend bool operator==(const prepared_plan&, const prepared_plan&) = default;
};

/// The plans of statements that were prepared lately; the one used least recently makes room. Has
/// no lock: the shell guards it.
class prepared_cache {
public:
    static constexpr std::size_t usual_capacity = 5'000;
    static constexpr std::size_t usual_max_bytes = std::size_t{64} << 20;  // statements and plans

    explicit prepared_cache(std::size_t capacity = usual_capacity,
                            std::size_t max_bytes = usual_max_bytes) noexcept;
    prepared_cache(const prepared_cache&) = delete;
    prepared_cache& operator=(const prepared_cache&) = delete;
    ~prepared_cache() = default;

    /// Null if there is none. Valid until the next call. What is found counts as used.
    const prepared_plan* find(std::string_view statement, std::string_view query_context);

    /// What is larger than the cache is not kept.
    void put(std::string_view statement, std::string_view query_context, prepared_plan plan);

    /// Only if it is still that plan: another request may have prepared the statement again.
    void drop(std::string_view statement, std::string_view query_context,
              const prepared_plan& refused);

    void clear() noexcept;
    std::size_t size() const noexcept { return by_key_.size(); }
    std::size_t bytes() const noexcept { return bytes_; }

private:
    struct entry {
        std::string statement;
        std::string query_context;
        prepared_plan plan;

        std::size_t bytes() const noexcept
        {
            return statement.size() + query_context.size() + plan.name.size() +
                   plan.encoded_plan.size();
        }
    };
    using entries = std::list<entry>;
    /// Views of the entry's own texts, which stay where they are.
    using key = std::pair<std::string_view, std::string_view>;

    void remove(entries::iterator which);

    std::size_t capacity_;
    std::size_t max_bytes_;
    std::size_t bytes_ = 0;
    entries entries_;  // the one used last comes first
    std::map<key, entries::iterator> by_key_;
};

}  // namespace holdfast::core::couchbase
