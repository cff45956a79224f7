#pragma once
#include "shell/couchbase/connection/kv_connection.hpp"

#include <memory>

namespace holdfast::shell::couchbase {

/// The time in which a reader hands out the replies of one read, on its thread. Connections that
/// get new requests meanwhile are flushed at its end, each once.
class reader_turn {
public:
    reader_turn() noexcept;
    reader_turn(const reader_turn&) = delete;
    reader_turn& operator=(const reader_turn&) = delete;
    ~reader_turn();

    /// False if this thread is not in a turn.
    static bool defer_flush(kv_connection& of);
};

}  // namespace holdfast::shell::couchbase
