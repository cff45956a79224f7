#pragma once
#include "holdfast/couchbase/cluster.hpp"
#include "tools/holdfast/drill/client.hpp"

#include <chrono>
#include <memory>
#include <set>
#include <string>

namespace holdfast::drill {

/// All that the clients of a workload have ever tried to write, by what it is: a key-value service
/// lists no keys. The clients of a workload share it, on one thread.
struct written_keys {
    std::set<token> documents = {};
    std::set<std::string> pages = {};
    std::set<std::string> counters = {};
    std::set<std::string> records = {};
};

struct couchbase_client_options {
    std::string bucket = "default";
    std::string prefix = {};  // of all keys, so that there is none of an earlier drill
    std::chrono::milliseconds timeout{2500};  // of each operation
    std::shared_ptr<written_keys> written = std::make_shared<written_keys>();
};

/// Writes to the default collection of one bucket. Each content carries its own key, so that a
/// reply to another request is noticed: {"k": key, "t": token} for documents and records,
/// {"k": key, "s": [signatures]} for pages. Counters are counters of the server.
class couchbase_client final : public client {
public:
    couchbase_client(runtime::world& in, couchbase::cluster with, couchbase_client_options options);

    runtime::awaitable<write_outcome> write(operation& one, bool repeated) override;
    runtime::awaitable<result<void>> prepare() override;
    runtime::awaitable<result<found_state>> read_all(time_point until) override;
    runtime::awaitable<result<void>> remove_all() override;
    runtime::awaitable<void> close() override;

    const couchbase::cluster& handle() const noexcept { return cluster_; }

private:
    using failure_or_none = std::optional<error>;

    runtime::awaitable<failure_or_none> perform(operation& one, bool repeated);
    runtime::awaitable<failure_or_none> insert(operation& one, bool repeated);
    runtime::awaitable<failure_or_none> increment(operation& one);
    runtime::awaitable<failure_or_none> compare_and_swap(operation& one);
    runtime::awaitable<failure_or_none> try_swap(operation& one, std::chrono::milliseconds left);
    runtime::awaitable<failure_or_none> upsert(operation& one);
    runtime::awaitable<failure_or_none> get(operation& one);
    std::string key_of(std::string_view name) const;

    runtime::world& world_;
    couchbase::cluster cluster_;
    couchbase::collection documents_;
    couchbase_client_options options_;
};

}  // namespace holdfast::drill
