#include "core/couchbase/rows/row_splitter.hpp"

#include "holdfast/couchbase/errc.hpp"

#include <cassert>

namespace holdfast::core::couchbase {

namespace {

using holdfast::couchbase::errc;

constexpr bool is_space(char c) noexcept
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

std::string shown(char c)
{
    const auto byte = static_cast<unsigned char>(c);
    return byte > ' ' && byte < 0x7f ? std::string{'\'', c, '\''} : "byte " + std::to_string(byte);
}

/// The object and the array of rows are two levels around each row.
constexpr std::size_t row_depth = row_splitter::max_depth - 2;

}  // namespace

row_splitter::row_splitter(std::string_view array, const row_limits& limits) noexcept
    : scanner_{row_depth}, array_{array}, limits_{limits}
{
}

void row_splitter::feed(std::string_view piece) noexcept
{
    assert(at_ == end_ || fault_);
    before_ += static_cast<std::size_t>(end_ - begin_);
    begin_ = at_ = kept_to_ = piece.data();
    end_ = begin_ + piece.size();
}

bool row_splitter::next(std::string_view& row)
{
    while (at_ != end_ && !fault_) {
        if (at_place_ == place::in_row) {
            if (scan())
                return end_row(row);
        } else if (at_place_ == place::in_key || at_place_ == place::in_value) {
            if (scan())
                end_scanned();
        } else if (is_space(*at_)) {
            ++at_;
        } else {
            take_structure(*at_);
        }
    }
    if (!fault_)
        end_piece();
    return false;
}

bool row_splitter::finish()
{
    assert(at_ == end_ || fault_);
    if (!fault_ && !complete())
        fail("the reply ends in the middle, after " + std::to_string(rows_) + " rows");
    return !fault_;
}

/// Whether the value is complete.
bool row_splitter::scan()
{
    const auto outcome = scanner_.take(at_, end_);
    if (outcome == value_scanner::outcome::failed)
        fail_syntax(scanner_.wanted());
    return outcome == value_scanner::outcome::done;
}

void row_splitter::end_scanned()
{
    if (at_place_ == place::in_value) {
        at_place_ = place::behind_value;
        return;
    }
    keep_metadata();
    const std::string_view key = std::string_view{metadata_}.substr(key_at_);
    array_follows_ = key.size() == array_.size() + 2 && key.substr(1, array_.size()) == array_;
    at_place_ = place::before_colon;
}

void row_splitter::take_structure(char c)
{
    switch (at_place_) {
    case place::before_object:
        return c == '{' ? move_on(place::before_first_key) : fail_syntax("an object");
    case place::before_first_key:
        return c == '}' ? move_on(place::behind_object) : begin_key(c);
    case place::before_key: return begin_key(c);
    case place::before_colon:
        return c == ':' ? move_on(place::before_value) : fail_syntax("a colon");
    case place::before_value: return begin_value(c);
    case place::behind_value:
        if (c == ',')
            return move_on(place::before_key);
        return c == '}' ? move_on(place::behind_object)
                        : fail_syntax("a comma or the end of the object");
    case place::before_first_row: return c == ']' ? end_rows() : begin_row();
    case place::before_row: return begin_row();
    case place::behind_row:
        if (c == ',')
            return move_on(place::before_row);
        return c == ']' ? end_rows() : fail_syntax("a comma or the end of the rows");
    case place::behind_object: return fail_syntax("nothing more");
    case place::in_key:
    case place::in_value:
    case place::in_row: break;
    }
}

void row_splitter::begin_key(char c)
{
    if (c != '"')
        return fail_syntax("a key");
    keep_metadata();
    key_at_ = metadata_.size();
    scanner_.begin();
    at_place_ = place::in_key;
}

void row_splitter::begin_value(char c)
{
    if (!array_follows_ || c != '[') {
        scanner_.begin();
        at_place_ = place::in_value;
        return;
    }
    if (array_was_seen_)
        return fail("a second array of rows");
    array_was_seen_ = true;
    move_on(place::before_first_row);
    keep_metadata();
}

void row_splitter::begin_row()
{
    kept_to_ = at_;
    scanner_.begin();
    at_place_ = place::in_row;
}

bool row_splitter::end_row(std::string_view& row)
{
    row = {kept_to_, at_};
    if (!carry_.empty()) {
        carry_.append(row);
        joined_.swap(carry_);
        carry_.clear();
        row = joined_;
    }
    if (row.size() > limits_.max_row_bytes) {
        fail("a row of " + std::to_string(row.size()) + " bytes; the limit is " +
             std::to_string(limits_.max_row_bytes));
        return false;
    }
    ++rows_;
    at_place_ = place::behind_row;
    return true;
}

void row_splitter::end_rows() noexcept
{
    kept_to_ = at_;
    move_on(place::behind_value);
}

void row_splitter::end_piece()
{
    if (!is_among_rows())
        return keep_metadata();
    if (at_place_ != place::in_row)
        return;
    carry_.append(kept_to_, at_);
    kept_to_ = at_;
    if (carry_.size() > limits_.max_row_bytes)
        fail("a row of more than " + std::to_string(limits_.max_row_bytes) + " bytes");
}

void row_splitter::keep_metadata()
{
    metadata_.append(kept_to_, at_);
    kept_to_ = at_;
    if (metadata_.size() > limits_.max_metadata_bytes)
        fail("more than " + std::to_string(limits_.max_metadata_bytes) + " bytes beside the rows");
}

void row_splitter::fail_syntax(std::string_view wanted)
{
    fail("expected " + std::string{wanted} + ", found " + shown(*at_));
}

void row_splitter::fail(std::string message)
{
    const std::string at = std::to_string(offset());
    fault_ = error{errc::decoding_failure, "invalid reply at byte " + at + ": " + message}
                 .with_context("offset", at);
}

}  // namespace holdfast::core::couchbase
