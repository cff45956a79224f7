#pragma once
#include "core/couchbase/rows/value_scanner.hpp"
#include "holdfast/error.hpp"
#include "holdfast/json/reader.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::core::couchbase {

struct row_limits {
    std::size_t max_row_bytes = std::size_t{20} << 20;  // as documents
    std::size_t max_metadata_bytes = std::size_t{1} << 20;
};

/// Takes the rows out of a service's reply while it arrives, in pieces that are cut anywhere:
///
///     splitter.feed(piece);
///     std::string_view row;
///     while (splitter.next(row))
///         ...
///     if (splitter.failed())
///         return std::move(splitter).fault();
///
/// and finish() after the last piece. Rows are the elements of one array of the outermost object;
/// all else is kept as metadata, in which that array stands empty. What is malformed is refused,
/// except inside of strings: those are checked by what reads the row.
class row_splitter {
public:
    /// Levels of objects and arrays in the reply, so that json::reader can read all of it.
    static constexpr std::size_t max_depth = json::max_depth;

    /// The array's name, "results": a text that outlives this object.
    explicit row_splitter(std::string_view array, const row_limits& limits = {}) noexcept;

    /// More of the reply. All of the last piece must have been taken: next() has given false. The
    /// piece stays where it is until then.
    void feed(std::string_view piece) noexcept;

    /// The text of the next row, where it lies: in the piece, or in a buffer of this object if it
    /// began in an earlier one. Valid until the next piece is fed. False if more must be fed, at
    /// the end, and after a failure.
    bool next(std::string_view& row);

    /// No more pieces will come. False if the reply is not complete.
    bool finish();

    bool failed() const noexcept { return fault_.has_value(); }
    /// errc::decoding_failure, with the byte of the reply (context "offset").
    error fault() && { return *std::move(fault_); }

    /// The outermost object has ended: only white space may follow.
    bool complete() const noexcept { return at_place_ == place::behind_object && !fault_; }
    std::size_t rows() const noexcept { return rows_; }  // given
    std::size_t offset() const noexcept  // bytes taken
    {
        return before_ + static_cast<std::size_t>(at_ - begin_);
    }

    /// A JSON object once complete; before that, its beginning.
    const std::string& metadata() const& noexcept { return metadata_; }
    std::string&& metadata() && noexcept { return std::move(metadata_); }

private:
    enum class place : std::uint8_t {
        before_object,
        before_first_key,
        before_key,
        in_key,
        before_colon,
        before_value,
        in_value,
        behind_value,
        before_first_row,
        before_row,
        in_row,
        behind_row,
        behind_object,
    };

    bool scan();
    void end_scanned();
    void take_structure(char c);
    void begin_key(char c);
    void begin_value(char c);
    void begin_row();
    bool end_row(std::string_view& row);
    void end_rows() noexcept;
    void end_piece();
    bool is_among_rows() const noexcept
    {
        return at_place_ >= place::before_first_row && at_place_ <= place::behind_row;
    }

    void move_on(place to) noexcept
    {
        ++at_;
        at_place_ = to;
    }
    void keep_metadata();
    void fail_syntax(std::string_view wanted);
    void fail(std::string message);

    const char* begin_ = nullptr;  // of the piece
    const char* at_ = nullptr;
    const char* end_ = nullptr;
    const char* kept_to_ = nullptr;  // what lies between here and at_ is in no buffer yet
    std::size_t before_ = 0;  // bytes of earlier pieces

    place at_place_ = place::before_object;
    bool array_follows_ = false;  // the last key was its name
    bool array_was_seen_ = false;
    value_scanner scanner_;
    std::size_t key_at_ = 0;  // in metadata_

    std::string_view array_;
    row_limits limits_;
    std::size_t rows_ = 0;
    std::string carry_;  // the beginning of a row, from earlier pieces
    std::string joined_;  // such a row, complete
    std::string metadata_;
    std::optional<error> fault_;
};

}  // namespace holdfast::core::couchbase
