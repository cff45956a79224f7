#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/storage/collection.hpp"
#include "lab/mongo/storage/option_reader.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

namespace holdfast::lab {
namespace {

constexpr int value_out_of_range = 51024;
constexpr std::int64_t max_capped_documents = std::numeric_limits<std::int32_t>::max();

constexpr std::array<std::string_view, 18> known = {"capped",
                                                    "size",
                                                    "max",
                                                    "storageEngine",
                                                    "validator",
                                                    "validationLevel",
                                                    "collation",
                                                    "validationAction",
                                                    "viewOn",
                                                    "pipeline",
                                                    "timeseries",
                                                    "expireAfterSeconds",
                                                    "clusteredIndex",
                                                    "encryptedFields",
                                                    "changeStreamPreAndPostImages",
                                                    "temp",
                                                    "flags",
                                                    "indexOptionDefaults"};

std::string field(const bson::element& e)
{
    return "create." + std::string{e.key()};
}

result<std::int64_t> read_size(const bson::element& e)
{
    const auto number = clamped_number(e);
    if (!number)
        return wrong_type(field(e), e, "long");
    if (*number < 1 && e.key() == "size")
        return refuse(value_out_of_range, "BSON field 'size' value must be >= 1, actual value '" +
                                              std::to_string(*number) + "'");
    return *number;
}

result<void> read_clustered(const bson::element& e, collection_options& to)
{
    if (e.type() != bson::type::document) {
        const auto on = truth(e);
        if (!on)
            return wrong_type(field(e), e, "object");
        to.clustered = *on;
        return {};
    }
    const bson::element key = e.as_document().find("key");
    if (key.type() != bson::type::document ||
        clamped_number(key.as_document().find("_id")) != std::int64_t{1})
        return refuse(server_code::invalid_options,
                      "The clusteredIndex option is not supported for this key pattern");
    if (truth(e.as_document().find("unique")) != true)
        return refuse(server_code::bad_value,
                      "The clusteredIndex option requires unique: true to be specified");
    to.clustered = true;
    if (const bson::element name = e.as_document().find("name"); name.type() == bson::type::string)
        to.clustered_index_name = std::string{name.as_string()};
    return {};
}

result<void> read_text(const bson::element& e, std::string& to)
{
    if (e.type() != bson::type::string)
        return wrong_type(field(e), e, "string");
    to = std::string{e.as_string()};
    return {};
}

result<void> read_document(const bson::element& e, bson::type as, bson::document& to)
{
    if (e.type() != as)
        return wrong_type(field(e), e, type_alias(as));
    to = bson::document{e.as_document()};
    return {};
}

result<void> read_option(const bson::element& e, collection_options& to)
{
    const std::string_view name = e.key();
    if (name == "capped") {
        const auto on = truth(e);
        if (!on)
            return wrong_type(field(e), e, "bool");
        to.capped = *on;
    } else if (name == "size" || name == "max") {
        auto number = read_size(e);
        if (!number)
            return std::move(number).error();
        (name == "size" ? to.max_bytes : to.max_documents) = *number;
    } else if (name == "collation") {
        auto order = read_collation(e);
        if (!order)
            return std::move(order).error();
        to.order = *order;
    } else if (name == "validator") {
        return read_document(e, bson::type::document, to.validator);
    } else if (name == "pipeline") {
        return read_document(e, bson::type::array, to.pipeline);
    } else if (name == "validationAction") {
        return read_text(e, to.validation_action);
    } else if (name == "validationLevel") {
        return read_text(e, to.validation_level);
    } else if (name == "viewOn") {
        return read_text(e, to.view_on);
    } else if (name == "clusteredIndex") {
        return read_clustered(e, to);
    } else if (name == "timeseries") {
        to.without_ids = true;  // several measurements may have the same one
    }
    return {};
}

void keep(bson::builder& raw, const bson::element& e, const collection_options& read)
{
    if (e.key() == "collation") {
        if (read.order)
            raw.add("collation", full_collation(e.as_document()));
    } else if (e.key() == "clusteredIndex") {
        if (!read.clustered)
            return;
        auto index = raw.document("clusteredIndex");
        index.add("v", 2).add("key", bson::doc("_id", 1));
        index.add("name", read.clustered_index_name.empty() ? std::string_view{"_id_"}
                                                            : read.clustered_index_name);
        index.add("unique", true);
    } else {
        raw.copy(e);
    }
}

result<void> check(const collection_options& read, bson::view from)
{
    if (read.capped && read.max_bytes == 0)
        return refuse(server_code::invalid_options,
                      "the 'size' field is required when 'capped' is true");
    if (!read.capped && (from.find("size") || from.find("max")))
        return refuse(server_code::invalid_options,
                      "the 'capped' field needs to be true when either the 'size' or 'max' fields "
                      "are present");
    if (read.max_documents > max_capped_documents)
        return refuse(server_code::bad_value,
                      "max in a capped collection has to be < 2^31 or not set");
    if (!read.view_on.empty() && read.capped)
        return refuse(server_code::invalid_options, "option not supported on a view: capped");
    if (read.view_on.empty() && from.find("pipeline"))
        return refuse(server_code::invalid_options,
                      "'pipeline' cannot be specified without 'viewOn'");
    return {};
}

}  // namespace

result<collection_options> read_collection_options(bson::view from)
{
    collection_options read;
    bson::byte_buffer bytes;
    bson::builder raw{bytes};
    for (const bson::element& e : from) {
        if (e.malformed())
            return refuse(server_code::failed_to_parse, "invalid BSON in the options of create");
        if (std::ranges::find(known, e.key()) == known.end())
            continue;
        if (auto fine = read_option(e, read); !fine)
            return std::move(fine).error();
        keep(raw, e, read);
    }
    if (auto fine = check(read, from); !fine)
        return std::move(fine).error();
    if (auto done = raw.finish(); !done)
        return std::move(done).error();
    read.raw = bson::document::adopt(std::move(bytes));
    return read;
}

}  // namespace holdfast::lab
