#include "lab/mongo/aggregate/compute.hpp"
#include "lab/mongo/aggregate/stage.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/expression/node.hpp"

#include <utility>

namespace holdfast::lab::staging {

namespace {

// ---- $facet ----

class facet_stage final : public stage {
public:
    struct part {
        std::string name;
        stage_list list;
    };
    explicit facet_stage(std::vector<part> parts) : parts_{std::move(parts)} {}
    result<documents> run(documents in, runner& with) const override
    {
        bson::byte_buffer bytes;
        {
            bson::builder out{bytes};
            for (const part& p : parts_) {
                auto made = p.list.run(in, with);
                if (!made)
                    return made;
                out.put(p.name, to_array(*made).view());
                if (bytes.size() > computing::max_value_size)
                    break;
            }
        }
        documents whole;
        whole.push_back(bson::document::adopt(std::move(bytes)));
        if (auto good = check_document(whole.back()); !good)
            return std::move(good).error();
        return whole;
    }

private:
    std::vector<part> parts_;
};

// ---- $unionWith ----

class union_stage final : public stage {
public:
    union_stage(std::string database, std::string collection, stage_list list)
        : database_{std::move(database)}, collection_{std::move(collection)}, list_{std::move(list)}
    {
    }
    result<documents> run(documents in, runner& with) const override
    {
        documents more;
        if (!collection_.empty()) {
            auto read = with.host.read(database_, collection_);
            if (!read)
                return read;
            more = *std::move(read);
        }
        auto made = list_.run(std::move(more), with);
        if (!made)
            return made;
        for (bson::document& d : *made)
            in.push_back(std::move(d));
        return in;
    }

private:
    std::string database_;
    std::string collection_;
    stage_list list_;
};

}  // namespace

result<stage_ptr> make_facet(const bson::element& spec, const surroundings& in, stage_list&)
{
    if (spec.type() != bson::type::document || spec.as_document().empty())
        return refuse(40169, "the $facet specification must be a non-empty object");
    std::vector<facet_stage::part> parts;
    for (const bson::element& e : spec.as_document()) {
        if (e.type() != bson::type::array)
            return refuse(40170, "arguments to $facet must be arrays, " + std::string{e.key()} +
                                     " is type " + computing::type_text(e));
        if (e.key().starts_with('$') || e.key().find('.') != std::string_view::npos ||
            e.key().empty())
            return refuse(16410, "FieldPath field names may not start with '$' or hold a '.'");
        auto list = compile_stages(e.as_array(),
                                   {in.by, in.context, place::facet, true, in.depth + 1});
        if (!list)
            return std::move(list).error();
        parts.push_back({std::string{e.key()}, *std::move(list)});
    }
    return std::make_unique<facet_stage>(std::move(parts));
}

result<stage_ptr> make_union_with(const bson::element& spec, const surroundings& in, stage_list&)
{
    std::string database;
    std::string collection;
    bson::array_view stages;
    const bson::document kept{spec.type() == bson::type::document ? spec.as_document()
                                                                  : bson::view{}};
    if (spec.type() == bson::type::string) {
        collection = spec.as_string();
    } else if (spec.type() != bson::type::document) {
        return refuse(server_code::failed_to_parse,
                      "the $unionWith stage specification must be an object or string, but found " +
                          computing::type_text(spec));
    }
    for (const bson::element& e : kept) {
        const bool text = e.type() == bson::type::string;
        if (e.key() == "coll" && text)
            collection = e.as_string();
        else if (e.key() == "db" && text)
            database = e.as_string();
        else if (e.key() == "pipeline" && e.type() == bson::type::array)
            stages = e.as_array();
        else if (e.key() == "coll" || e.key() == "db" || e.key() == "pipeline")
            return refuse(server_code::type_mismatch,
                          "BSON field '$unionWith." + std::string{e.key()} +
                              "' is the wrong type '" + computing::type_text(e) + "'");
        else
            return refuse(server_code::unknown_field, "BSON field '$unionWith." +
                                                          std::string{e.key()} +
                                                          "' is an unknown field.");
    }
    auto list = compile_stages(stages, {in.by, in.context, place::union_with, true, in.depth + 1});
    if (!list)
        return std::move(list).error();
    if (collection.empty() && !list->has_own_source)
        return refuse(server_code::failed_to_parse,
                      "$unionWith stage without explicit collection must have a pipeline with "
                      "$documents as first stage");
    return std::make_unique<union_stage>(std::move(database), std::move(collection),
                                         *std::move(list));
}

}  // namespace holdfast::lab::staging
