#pragma once
#include "lab/mongo/set/commit_progress.hpp"

namespace holdfast::lab::mongo {

/// Copies everything of another member beside the own data, which stays until the copy is complete:
/// what this member has acknowledged must not be lost half way.
runtime::awaitable<result<void>> run_initial_sync(member_context& context, const member_role& role,
                                                  commit_progress& commit, peer& from);

}  // namespace holdfast::lab::mongo
