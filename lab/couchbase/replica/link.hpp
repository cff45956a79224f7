#pragma once
#include "core/couchbase/wire/frame_reader.hpp"
#include "holdfast/bson/byte_buffer.hpp"
#include "lab/couchbase/kv/node.hpp"
#include "lab/couchbase/replica/peer_frames.hpp"
#include "runtime/awaitable.hpp"
#include "runtime/wait.hpp"
#include "runtime/world.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

namespace holdfast::lab::couchbase {

/// The changes of one node on their way to another: one connection for all vbuckets of which the
/// other has copies. It is opened when there is something to send, and again when it breaks.
class link {
public:
    link(node& from, int to) : node_{from}, to_{to}, news_{from.world} {}
    link(const link&) = delete;
    link& operator=(const link&) = delete;

    /// The vbucket has changes, or another role.
    void mark(const std::string& bucket, std::uint16_t id);
    void mark_all();
    /// Lets it look again: after a freeze, or for its end.
    void wake();
    void stop();

    /// Until stop().
    static runtime::awaitable<void> run(std::shared_ptr<link> self);

private:
    using place = std::pair<std::string, std::uint16_t>;
    enum class phase : std::uint8_t { idle, asked, streaming };
    struct stream_state {
        phase now = phase::idle;
        std::uint64_t history = 0;  // the source's, when it began
        std::uint64_t sent = 0;
        bool ended = false;  // a snapshot, at `sent`
    };

    runtime::awaitable<result<runtime::stream_ptr>> connect();
    runtime::awaitable<void> exchange();
    /// False if the connection is to be closed.
    bool take_messages();
    bool take(const core::couchbase::frame& from);
    void begin(const place& at, const copy_state& theirs);
    void fill();
    void fill_one(const place& at);
    void send_changes(const place& at, stream_state& to, const vbucket& from);
    /// The vbucket if its changes go to the other node.
    const vbucket* find_source(const place& at);
    std::uint32_t number_of(const std::string& bucket);
    bool paused() const noexcept { return node_.frozen || !node_.replicates; }
    void forget();

    node& node_;
    int to_;
    runtime::event news_;
    runtime::stream_ptr stream_;
    bool reading_ = false;
    bool stopped_ = false;
    std::set<place> dirty_;
    std::map<place, time_point> refused_;  // when to try again
    std::map<place, stream_state> streams_;
    std::map<std::string, std::uint32_t> numbers_;
    std::map<std::uint32_t, std::string> names_;
    std::map<std::string, std::string> announced_;  // uuids
    core::couchbase::frame_reader reader_;
    bson::byte_buffer out_;
};

}  // namespace holdfast::lab::couchbase
