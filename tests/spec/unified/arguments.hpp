#pragma once
#include "api_entities.hpp"
#include "holdfast/mongo/collection.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>

namespace holdfast::spec::unified {

/// Named values of a document, each of which must be asked for: one that is not known would demand
/// something that is not done. All throw case_failure.
class fields {
public:
    /// `what`: for messages, "operation find".
    fields(bson::view from, std::string what) : from_{from}, what_{std::move(what)} {}

    /// Missing if there is none.
    bson::element any(std::string_view name);
    bson::element need(std::string_view name);

    bson::view document(std::string_view name);
    std::optional<bson::view> document_if(std::string_view name);
    bson::array_view array(std::string_view name);
    std::optional<bson::array_view> array_if(std::string_view name);
    std::string_view text(std::string_view name);
    std::string_view text_if(std::string_view name);  // empty if there is none
    std::optional<bool> flag(std::string_view name);
    std::optional<std::int64_t> number(std::string_view name);
    std::optional<std::int32_t> small(std::string_view name);
    std::optional<std::chrono::milliseconds> ms(std::string_view name);
    mongo::index_hint hint(std::string_view name);
    mongo::any_value value(std::string_view name);
    mongo::update_view update(std::string_view name);
    std::optional<mongo::write_concern> write_concern();
    std::optional<mongo::read_concern> read_concern();
    std::optional<mongo::read_preference> read_preference();

    /// All that has not been asked for, for commands that take any field.
    bson::document rest();
    /// Throws if something has not been asked for.
    void finish() const;

private:
    [[noreturn]] void wrong(std::string_view name, std::string_view wanted) const;

    bson::view from_;
    std::string what_;
    std::set<std::string_view> known_;
};

/// The arguments of an operation.
class arguments : public fields {
public:
    arguments(const context& in, const operation& of)
        : fields{of.arguments, "operation " + std::string{of.name}}, in_{&in}
    {
    }

    const mongo::session* session();

    /// Everything that the options of this type have a name for.
    template <class Options>
    Options options();

private:
    template <class Options>
    void take_common(Options& to);
    template <class Options>
    void take_of_reads(Options& to);
    template <class Options>
    void take_of_writes(Options& to);
    template <class Options>
    void take_of_collections(Options& to);

    const context* in_;
};

mongo::cursor_kind cursor_kind_named(std::string_view name);
mongo::return_document return_document_named(std::string_view name);

template <class Options>
void arguments::take_common(Options& to)
{
    if constexpr (requires { to.session; })
        to.session = session();
    if constexpr (requires { to.timeout; })
        to.timeout = ms("timeoutMS");
    if constexpr (requires { to.write_concern; })
        to.write_concern = write_concern();
    if constexpr (requires { to.read_concern; })
        to.read_concern = read_concern();
    if constexpr (requires { to.read_preference; })
        to.read_preference = read_preference();
    if constexpr (requires { to.comment; })
        to.comment = value("comment");
    if constexpr (requires { to.raw_data; })
        to.raw_data = flag("rawData");
    if constexpr (requires { to.let; })
        to.let = document_if("let");
    if constexpr (requires { to.collation; })
        to.collation = document_if("collation");
    if constexpr (requires { to.hint; })
        to.hint = hint("hint");
    if constexpr (requires { to.sort; })
        to.sort = document_if("sort");
    if constexpr (requires { to.max_time; })
        to.max_time = ms("maxTimeMS");
}

template <class Options>
void arguments::take_of_reads(Options& to)
{
    if constexpr (requires { to.projection; })
        to.projection = document_if("projection");
    if constexpr (requires { to.skip; })
        to.skip = number("skip");
    if constexpr (requires { to.limit; })
        to.limit = number("limit");
    if constexpr (requires { to.batch_size; })
        to.batch_size = small("batchSize");
    if constexpr (requires { to.cursor; })
        to.cursor = cursor_kind_named(text_if("cursorType"));
    if constexpr (requires { to.max_await_time; })
        to.max_await_time = ms("maxAwaitTimeMS");
    if constexpr (requires { to.allow_disk_use; })
        to.allow_disk_use = flag("allowDiskUse");
    if constexpr (requires { to.show_record_id; }) {
        to.min = document_if("min");
        to.max = document_if("max");
        to.allow_partial_results = flag("allowPartialResults");
        to.no_cursor_timeout = flag("noCursorTimeout");
        to.oplog_replay = flag("oplogReplay");
        to.return_key = flag("returnKey");
        to.show_record_id = flag("showRecordId");
    }
    if constexpr (requires { to.authorized_only; }) {
        to.filter = document_if("filter");
        to.name_only = flag("nameOnly");
        to.authorized_only = flag("authorizedDatabases");
        if (!to.authorized_only)
            to.authorized_only = flag("authorizedCollections");
    }
}

template <class Options>
void arguments::take_of_writes(Options& to)
{
    if constexpr (requires { to.ordered; })
        to.ordered = flag("ordered").value_or(true);
    if constexpr (requires { to.bypass_document_validation; })
        to.bypass_document_validation = flag("bypassDocumentValidation");
    if constexpr (requires { to.upsert; })
        to.upsert = flag("upsert");
    if constexpr (requires { to.array_filters; })
        to.array_filters = array_if("arrayFilters");
    if constexpr (requires { to.verbose_results; })
        to.verbose_results = flag("verboseResults").value_or(false);
    if constexpr (requires { to.drop_target; })
        to.drop_target = flag("dropTarget");
    if constexpr (requires { to.commit_quorum; })
        to.commit_quorum = value("commitQuorum");
    if constexpr (requires { to.returns; }) {
        if (const std::string_view which = text_if("returnDocument"); !which.empty())
            to.returns = return_document_named(which);
    }
}

/// What a collection is created with.
template <class Options>
void arguments::take_of_collections(Options& to)
{
    if constexpr (requires { to.capped; }) {
        to.capped = flag("capped");
        to.size = number("size");
        to.max = number("max");
        to.storage_engine = document_if("storageEngine");
        to.validator = document_if("validator");
        to.validation_level = text_if("validationLevel");
        to.validation_action = text_if("validationAction");
        to.index_option_defaults = document_if("indexOptionDefaults");
        to.view_on = text_if("viewOn");
        to.pipeline = array_if("pipeline");
        to.time_series = document_if("timeseries");
        to.expire_after_seconds = number("expireAfterSeconds");
        to.clustered_index = document_if("clusteredIndex");
        to.change_stream_pre_and_post_images = document_if("changeStreamPreAndPostImages");
    }
}

template <class Options>
Options arguments::options()
{
    Options made;
    take_common(made);
    take_of_reads(made);
    take_of_writes(made);
    take_of_collections(made);
    return made;
}

}  // namespace holdfast::spec::unified
