#pragma once
#include "lab/couchbase/kv/node.hpp"
#include "lab/couchbase/replica/link.hpp"
#include "runtime/awaitable.hpp"
#include "runtime/background.hpp"
#include "runtime/wait.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace holdfast::lab::couchbase {

/// Sends the changes of a node to all others that have copies, and ends durable writes that are
/// over their time. The node outlives ended().
class replicator {
public:
    explicit replicator(node& of);
    replicator(const replicator&) = delete;
    replicator& operator=(const replicator&) = delete;
    ~replicator();

    /// A link to each of the node's peers. Again when there are more of them.
    void connect_peers();
    void mark(const std::string& bucket, std::uint16_t id);
    void mark_all();
    void wake();
    void stop();
    runtime::awaitable<void> ended() { return tasks_.ended(); }

private:
    struct deadlines;
    static runtime::awaitable<void> watch(std::shared_ptr<deadlines> of);

    node& node_;
    runtime::background tasks_;
    std::map<int, std::shared_ptr<link>> links_;
    std::shared_ptr<deadlines> deadlines_;
};

}  // namespace holdfast::lab::couchbase
