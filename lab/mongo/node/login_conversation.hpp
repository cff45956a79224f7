#pragma once
#include "lab/sasl/scram.hpp"

#include <cstdint>
#include <string>

namespace holdfast::lab::mongo {

/// A login between two messages of the client.
struct login_conversation {
    std::int32_t id = 1;
    bool skip_empty_exchange = false;
    bool proven = false;  // all but the last, empty message has been exchanged

    std::string database = {};
    scram_conversation scram = {};
};

}  // namespace holdfast::lab::mongo
