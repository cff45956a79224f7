#pragma once
#include "holdfast/error.hpp"

#include <span>
#include <string>

namespace holdfast::core::mongo {

/// Whether a write may have been applied, now that this attempt has failed as well; `before`: what
/// was known until then. Folded over all attempts while they are recorded, since a history keeps
/// only some of them:
///   not sent    nothing changes;
///   in flight   it may have been applied, for ever, unless a later attempt under the same
///               transaction number finds that it was not;
///   answered    depends on the error: most prove that this attempt has written nothing.
/// Only attempts that carry such a number are repeated after a lost connection, so whatever follows
/// one in flight has the same number.
bool possibly_applied(bool before, const attempt& failed) noexcept;

/// The same for an error that the server has replied with, or a reply that made no sense.
bool possibly_applied_after_reply(bool before, error_code cause,
                                  std::span<const std::string> labels) noexcept;

}  // namespace holdfast::core::mongo
