#pragma once
#include "lab/mongo/aggregate/pipeline.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab::staging {

/// Where a list of stages stands; some stages are not allowed everywhere.
enum class place { top, facet, lookup, union_with };

/// What stages are compiled with.
struct surroundings {
    const std::optional<collation>& by;
    const expression_context& context;
    place where = place::top;
    bool on_collection = true;
    int depth = 0;  // of pipelines in pipelines
};

/// One run of a pipeline: its host, and what it may still cost.
struct runner {
    pipeline_host& host;
    std::size_t memory_limit;               // bytes of documents after any stage
    std::size_t documents_left = 20'000'000;  // that stages may still look at

    result<void> spend(std::size_t documents);
    result<void> check(const documents& made) const;
};

/// Counts what a stage has made so far, so that it stops before memory is full and not after.
class room {
public:
    explicit room(const runner& with) : limit_{with.memory_limit} {}
    result<void> take(bson::view made);

private:
    std::size_t limit_;
    std::size_t used_ = 0;
};

class stage {
public:
    virtual ~stage() = default;
    virtual result<documents> run(documents in, runner& with) const = 0;
};
using stage_ptr = std::unique_ptr<stage>;

/// A compiled list of stages, with what its owner may want to know.
struct stage_list {
    std::vector<stage_ptr> stages = {};
    bool has_own_source = false;
    bson::document leading_match = {};
    std::optional<out_stage> out = {};
    std::optional<merge_stage> merge = {};

    result<documents> run(documents in, runner& with) const;
};

result<stage_list> compile_stages(bson::array_view stages, const surroundings& in);

/// How a stage is made: `spec` is its one field. Stages at the end may fill in the list itself.
using stage_maker = result<stage_ptr> (*)(const bson::element& spec, const surroundings& in,
                                          stage_list& list);

result<stage_ptr> make_match(const bson::element& spec, const surroundings& in, stage_list&);
result<stage_ptr> make_sort(const bson::element& spec, const surroundings& in, stage_list&);
result<stage_ptr> make_limit(const bson::element& spec, const surroundings& in, stage_list&);
result<stage_ptr> make_skip(const bson::element& spec, const surroundings& in, stage_list&);
result<stage_ptr> make_count(const bson::element& spec, const surroundings& in, stage_list&);
result<stage_ptr> make_sample(const bson::element& spec, const surroundings& in, stage_list&);
result<stage_ptr> make_unwind(const bson::element& spec, const surroundings& in, stage_list&);
result<stage_ptr> make_replace_root(const bson::element& spec, const surroundings& in, stage_list&);
result<stage_ptr> make_project(const bson::element& spec, const surroundings& in, stage_list&);
result<stage_ptr> make_add_fields(const bson::element& spec, const surroundings& in, stage_list&);
result<stage_ptr> make_unset(const bson::element& spec, const surroundings& in, stage_list&);
result<stage_ptr> make_group(const bson::element& spec, const surroundings& in, stage_list&);
result<stage_ptr> make_sort_by_count(const bson::element& spec, const surroundings& in,
                                     stage_list&);
result<stage_ptr> make_bucket(const bson::element& spec, const surroundings& in, stage_list&);
result<stage_ptr> make_facet(const bson::element& spec, const surroundings& in, stage_list&);
result<stage_ptr> make_lookup(const bson::element& spec, const surroundings& in, stage_list&);
result<stage_ptr> make_union_with(const bson::element& spec, const surroundings& in, stage_list&);
result<stage_ptr> make_documents(const bson::element& spec, const surroundings& in, stage_list&);
result<stage_ptr> make_host_source(const bson::element& spec, const surroundings& in, stage_list&);
result<stage_ptr> make_out(const bson::element& spec, const surroundings& in, stage_list& list);
result<stage_ptr> make_merge(const bson::element& spec, const surroundings& in, stage_list& list);
result<stage_ptr> refuse_stage(const bson::element& spec, const surroundings& in, stage_list&);

/// Documents as the elements of an array, for an array field.
bson::array to_array(const documents& all);

/// A whole number of any numeric type.
std::optional<std::int64_t> whole(const bson::element& e);

}  // namespace holdfast::lab::staging
