#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::lab::mongo {

/// A SCRAM exchange between two messages of the client. Only data: who computes with it is the
/// login itself.
struct login_conversation {
    std::int32_t id = 1;
    bool sha_256 = true;
    bool skip_empty_exchange = false;
    bool proven = false;  // all but the last, empty message has been exchanged
    bool known = false;  // the user exists; otherwise it goes on all the same, and fails at the end

    std::string user = {};
    std::string database = {};
    std::string header = {};  // "n,,", as the client sent it
    std::string first_bare = {};
    std::string server_first = {};
    std::string nonce = {};  // of both
    std::vector<std::uint8_t> stored_key = {};
    std::vector<std::uint8_t> server_key = {};
};

}  // namespace holdfast::lab::mongo
