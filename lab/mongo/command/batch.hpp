#pragma once
#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/document.hpp"
#include "holdfast/error.hpp"
#include "lab/mongo/command/fields.hpp"
#include "lab/mongo/command/writer.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace holdfast::lab::mongo {

/// What one statement did.
struct statement_result {
    std::int64_t matched = 0;  // inserted, matched or upserted, deleted
    std::int64_t modified = 0;
    bool upserted = false;
    bson::document upserted_id = {};  // {_id: ...}
    bool retried = false;             // it had been executed before

    static statement_result replayed(const executed_statement& before);
};

/// The fields of an error inside a reply: code, keyPattern and keyValue or errInfo, errmsg.
void write_error_fields(bson::builder& to, const error& why, bool with_message = true);

/// True for errors that end a whole command instead of one of its statements: this server is no
/// primary any more, the number is too old, the time is over.
bool ends_command(const error& why) noexcept;

/// The statements of one insert, update or delete, and the reply to them all.
class batch {
public:
    explicit batch(bool ordered) noexcept : ordered_{ordered} {}

    /// False: an ordered batch ends here.
    result<bool> add(result<statement_result> outcome, std::int32_t statement);

    std::int32_t index() const noexcept { return index_; }
    bool failed() const noexcept { return !errors_.empty(); }
    void write(bson::builder& reply, bool with_modified) const;

private:
    struct numbered_error {
        std::int32_t index;
        error why;
    };
    struct numbered_id {
        std::int32_t index;
        bson::document id;
    };

    bool ordered_;
    std::int32_t index_ = 0;
    std::int64_t matched_ = 0;
    std::int64_t modified_ = 0;
    std::vector<numbered_error> errors_;
    std::vector<numbered_id> upserted_;
    std::vector<std::int32_t> retried_;
};

/// The statement's number: the field stmtIds, or counted from stmtId, or from zero.
class statement_numbers {
public:
    static result<statement_numbers> read(const bson::element& first, const bson::element& all);
    std::int32_t at(std::int32_t index) const noexcept;

private:
    std::int32_t first_ = 0;
    std::vector<std::int32_t> all_;
};

/// 16 unless there are 1 to 100,000 statements.
result<void> check_batch_size(const request& what, std::string_view field);

}  // namespace holdfast::lab::mongo
