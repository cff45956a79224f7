#include "lab/couchbase/index/index_copy.hpp"

#include <limits>
#include <utility>

namespace holdfast::lab::couchbase {

namespace {

bool has_expired(const document& of, wall_time now)
{
    using std::chrono::seconds;
    return of.expiry != 0 && wall_time{seconds{of.expiry}} <= now;
}

}  // namespace

void index_copy::follow(const vbucket& source, wall_time until)
{
    part& to = parts_[source.id()];
    if (to.followed.uuid != source.uuid()) {
        const auto shared = source.shared_until(to.followed.uuid);
        if (!shared || *shared < to.followed.seqno) {
            to.documents.clear();
            to.followed.seqno = 0;
        }
        to.followed.uuid = source.uuid();
    }
    if (to.followed.seqno == source.high_seqno())
        return;
    change_batch batch = source.changes_after(to.followed.seqno,
                                              std::numeric_limits<std::size_t>::max());
    for (change& one : batch.changes) {
        if (one.what != change::kind::document)
            continue;
        if (one.content.modified > until)
            return;
        to.followed.seqno = one.content.seqno;
        if (one.content.deleted)
            to.documents.erase(one.key);
        else
            to.documents[one.key] = std::move(one.content);
    }
    to.followed.seqno = source.high_seqno();
}

void index_copy::keep_collections(const std::function<bool(std::uint32_t)>& is_known)
{
    for (auto& [id, one] : parts_)
        std::erase_if(one.documents,
                      [&](const auto& at) { return !is_known(at.first.collection); });
}

index_position index_copy::at(std::uint16_t vbucket) const
{
    const auto found = parts_.find(vbucket);
    return found == parts_.end() ? index_position{} : found->second.followed;
}

void index_copy::each(std::uint32_t collection, wall_time now, const take_document& take,
                      const choose_vbucket& chosen) const
{
    for (const auto& [id, one] : parts_) {
        if (chosen && !chosen(id))
            continue;
        for (auto at = one.documents.lower_bound(doc_key{collection, ""});
             at != one.documents.end() && at->first.collection == collection; ++at) {
            if (!has_expired(at->second, now))
                take(at->first.name, at->second);
        }
    }
}

}  // namespace holdfast::lab::couchbase
