#include "lab/mongo/aggregate/pipeline.hpp"

#include "lab/mongo/aggregate/stage.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::lab {

namespace {

constexpr std::size_t memory_limit = 100 * 1024 * 1024;

}  // namespace

struct pipeline::compiled {
    std::optional<collation> by;
    staging::stage_list list;
};

pipeline::pipeline(std::unique_ptr<compiled> made) : compiled_{std::move(made)} {}
pipeline::pipeline(pipeline&&) noexcept = default;
pipeline& pipeline::operator=(pipeline&&) noexcept = default;
pipeline::~pipeline() = default;

result<pipeline> pipeline::compile(bson::array_view stages, bool on_collection,
                                   const std::optional<collation>& by,
                                   const expression_context& context)
{
    auto made = std::make_unique<compiled>();
    made->by = by;
    auto list = staging::compile_stages(stages,
                                        {made->by, context, staging::place::top, on_collection, 0});
    if (!list)
        return std::move(list).error();
    made->list = *std::move(list);
    return pipeline{std::move(made)};
}

bool pipeline::has_own_source() const noexcept
{
    return compiled_->list.has_own_source;
}

bson::document pipeline::leading_match() const
{
    return compiled_->list.leading_match;
}

const out_stage* pipeline::out() const noexcept
{
    return compiled_->list.out ? &*compiled_->list.out : nullptr;
}

const merge_stage* pipeline::merge() const noexcept
{
    return compiled_->list.merge ? &*compiled_->list.merge : nullptr;
}

result<documents> pipeline::run(documents input, pipeline_host& host) const
{
    // What the collection holds is in memory anyway: only growth beyond it is refused.
    std::size_t bytes = 0;
    for (const bson::document& d : input)
        bytes += d.size() + 64;
    staging::runner with{host, std::max(memory_limit, bytes)};
    return compiled_->list.run(std::move(input), with);
}

}  // namespace holdfast::lab
