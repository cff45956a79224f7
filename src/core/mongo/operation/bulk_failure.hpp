#pragma once
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"
#include "holdfast/mongo/error.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::core::mongo {

/// What went wrong so far with writes that take more than one command.
class bulk_failure {
public:
    /// What became of a command: a reply that counts, or null if nothing more may be sent. An error
    /// of the write concern comes with the whole reply, and the writes in it were done.
    std::optional<bson::document> take(result<bson::document> outcome);

    /// `multi`: a write to many documents, some of which it may have changed before it failed.
    void add_write_error(std::int64_t index, bson::view from, bool multi);
    /// What was done by a command that the server has carried out could not be read.
    void end_unread(error why)
    {
        ended_by_ = std::move(why);
        partly_done_ = true;
    }

    bool has_ended() const noexcept { return ended_by_.has_value(); }
    bool has_write_errors() const noexcept { return !write_errors_.empty(); }
    bool is_any() const noexcept
    {
        return has_ended() || has_write_errors() || !concern_errors_.empty();
    }
    const std::vector<holdfast::mongo::write_error>& write_errors() const noexcept
    {
        return write_errors_;
    }

    /// What ended it as it came, for who has nothing to add: not a single write was sent.
    error plain() && { return *std::move(ended_by_); }

    /// All of it as one error, which looks like the worst of them. `failed_detail` gets the lists.
    error as_error(std::shared_ptr<holdfast::mongo::write_failure> failed_detail) &&;

private:
    void note_concern(bson::view reply, const error* why);
    error worst() const;

    std::vector<holdfast::mongo::write_error> write_errors_;
    std::vector<holdfast::mongo::write_concern_error> concern_errors_;
    std::optional<error> by_concern_;  // the first of them, with its labels and its history
    std::optional<error> ended_by_;
    bool partly_done_ = false;
};

/// "writes[3]: ...": what is wrong with one write before anything was sent.
error unfit_write(error_code code, std::size_t index, std::string_view text);

}  // namespace holdfast::core::mongo
