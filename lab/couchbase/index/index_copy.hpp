#pragma once
#include "lab/couchbase/data/vbucket.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace holdfast::lab::couchbase {

/// A point in the history of a vbucket, as mutation tokens have it.
struct index_position {
    std::uint64_t uuid = 0;  // 0, of a wanted one: any
    std::uint64_t seqno = 0;

    friend bool operator==(const index_position&, const index_position&) = default;
};

/// Positions by vbucket: what an index is to have before it answers.
using index_positions = std::map<std::uint16_t, index_position>;

/// What an index has of a bucket: copies of its documents, up to a sequence number of each vbucket.
/// It is behind its source until it follows it.
class index_copy {
public:
    /// Takes what is new in an active vbucket, but not what was changed after `until`. After a
    /// failover it forgets what the new history does not have.
    void follow(const vbucket& source, wall_time until = wall_time::max());
    /// Forgets, without a trace, all documents of collections that were dropped.
    void keep_collections(const std::function<bool(std::uint32_t)>& is_known);

    index_position at(std::uint16_t vbucket) const;

    using take_document = std::function<void(const std::string& id, const document& content)>;
    using choose_vbucket = std::function<bool(std::uint16_t id)>;
    /// All documents of a collection that have not expired, in no order that means anything; those
    /// of chosen vbuckets, or of all.
    void each(std::uint32_t collection, wall_time now, const take_document& take,
              const choose_vbucket& chosen = {}) const;

private:
    struct part {
        index_position followed = {};
        std::map<doc_key, document> documents = {};
    };

    std::map<std::uint16_t, part> parts_;
};

}  // namespace holdfast::lab::couchbase
