#include "shell/couchbase/connection/reader_turn.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace holdfast::shell::couchbase {

namespace {

struct turn_state {
    unsigned depth = 0;
    std::vector<std::shared_ptr<kv_connection>> unsent = {};
};

thread_local turn_state this_turn;

}  // namespace

reader_turn::reader_turn() noexcept
{
    ++this_turn.depth;
}

reader_turn::~reader_turn()
{
    if (--this_turn.depth != 0)
        return;
    // A flush may end a connection, and that may add requests to another one.
    while (!this_turn.unsent.empty()) {
        const auto next = std::move(this_turn.unsent.back());
        this_turn.unsent.pop_back();
        next->flush_now();
    }
}

bool reader_turn::defer_flush(kv_connection& of)
{
    if (this_turn.depth == 0)
        return false;
    auto& unsent = this_turn.unsent;
    if (!unsent.empty() && unsent.back().get() == &of) [[likely]]
        return true;
    const auto is_same = [&](const auto& one) { return one.get() == &of; };
    if (std::ranges::none_of(unsent, is_same))
        unsent.push_back(of.shared_from_this());
    return true;
}

}  // namespace holdfast::shell::couchbase
