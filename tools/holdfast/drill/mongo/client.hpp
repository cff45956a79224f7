#pragma once
#include "holdfast/mongo/client.hpp"
#include "tools/holdfast/drill/client.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace holdfast::drill {

struct mongo_client_options {
    std::string database = "holdfast_drill";
    std::string collection = "workload";  // must not exist
    std::optional<std::chrono::milliseconds> timeout = {};  // of each operation
    mongo::write_concern concern = mongo::majority;  // any weaker one is a defect, to be reported
};

/// Writes to one collection: tokens are documents {t: token}, pages are {_id: name, n: count,
/// s: [signatures]}.
class mongo_client final : public client {
public:
    mongo_client(runtime::world& in, mongo::client with, mongo_client_options options);

    runtime::awaitable<write_outcome> write(operation& one, bool repeated) override;
    runtime::awaitable<result<void>> prepare() override;
    runtime::awaitable<result<found_state>> read_all(time_point until) override;
    runtime::awaitable<result<void>> remove_all() override;
    runtime::awaitable<void> close() override;

private:
    using failure_or_none = std::optional<error>;

    runtime::awaitable<failure_or_none> perform(operation& one, bool repeated);
    runtime::awaitable<failure_or_none> insert_one(operation& one);
    runtime::awaitable<failure_or_none> insert_many(operation& one);
    runtime::awaitable<failure_or_none> update_one(operation& one);
    runtime::awaitable<failure_or_none> find_one_and_update(operation& one);
    runtime::awaitable<failure_or_none> bulk_write(operation& one);
    runtime::awaitable<failure_or_none> delete_one(operation& one, bool repeated);

    runtime::world& world_;
    mongo::client client_;
    mongo::collection documents_;
    mongo_client_options options_;
};

}  // namespace holdfast::drill
