#pragma once
#include "client/couchbase/kv_scene.hpp"

#include <functional>
#include <vector>

namespace holdfast::proof {

/// The outcome of any operation.
using any_outcome = result<bool>;

/// One operation of a collection.
struct table_row {
    const char* name;
    core::couchbase::kv_opcode opcode;
    bool is_idempotent;
    std::function<runtime::awaitable<any_outcome>(const couchbase::collection&)> start;
};

/// All of them, so that an operation that is added has to be put in here. They succeed on a
/// document "a" that is there, and a counter "n"; "new" is not there.
std::vector<table_row> all_operations();

/// One node and the documents of the table, new for each operation.
class table_scene : public kv_scene {
public:
    explicit table_scene(couchbase::cluster_options options = {});
};

}  // namespace holdfast::proof
