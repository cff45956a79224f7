#pragma once
#include "holdfast/bson/builder.hpp"
#include "holdfast/error.hpp"
#include "lab/mongo/aggregate/pipeline.hpp"
#include "lab/mongo/node/cursor_table.hpp"
#include "lab/mongo/node/node.hpp"
#include "lab/mongo/storage/collection.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace holdfast::lab::mongo {

/// Documents that were all computed at once.
class documents_source final : public document_source {
public:
    /// `knows_end`: the batch with the last document ends the cursor, even if it was full.
    explicit documents_source(documents all, bool knows_end = false) noexcept
        : all_{std::move(all)}, knows_end_{knows_end}
    {
    }
    result<std::optional<bson::view>> next() override
    {
        if (at_ == all_.size())
            return std::optional<bson::view>{};
        if (at_ != 0)
            all_[at_ - 1] = {};
        return std::optional<bson::view>{all_[at_++].view()};
    }
    bool ended() const noexcept override { return knows_end_ && at_ == all_.size(); }

private:
    documents all_;
    std::size_t at_ = 0;
    bool knows_end_;
};

inline constexpr std::int64_t first_batch_documents = 101;

/// A cursor that a command opens.
struct opening {
    std::string_view ns;
    std::unique_ptr<document_source> from;
    std::int64_t batch_size = first_batch_documents;
    bool single_batch = false;
    bool tailable = false;
    bool await_data = false;
    bool no_timeout = false;
    bool stays_open = false;  // though there is nothing more for now
    read_time reported_time = {};  // of a snapshot: the reply says it
};

/// The field `cursor` of a reply, with the first batch; keeps the cursor if there is more.
result<void> open_cursor(node& on, const request& what, bson::builder& reply, opening made);

/// A whole list as one cursor reply.
result<void> reply_with_documents(node& on, const request& what, bson::builder& reply,
                                  std::string_view ns, documents all, const bson::element& cursor);

/// Appends documents of a cursor; true if there will be no more.
result<bool> fill_batch(cursor& from, bson::array_builder& to, std::int64_t most,
                        std::int64_t* added = nullptr);

/// {batchSize: n} of a command's field `cursor`; first_batch_documents without one.
result<std::int64_t> read_cursor_options(const bson::element& from, std::string_view command);

}  // namespace holdfast::lab::mongo
