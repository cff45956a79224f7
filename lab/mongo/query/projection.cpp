#include "lab/mongo/query/projection.hpp"

#include "lab/mongo/query/projection_plan.hpp"

#include <utility>

namespace holdfast::lab {

struct projection::compiled {
    bson::document spec;
    projecting::plan plan;
};

projection::projection(std::unique_ptr<compiled> made) : compiled_{std::move(made)} {}
projection::projection(projection&&) noexcept = default;
projection& projection::operator=(projection&&) noexcept = default;
projection::~projection() = default;

result<projection> projection::compile(bson::view spec, const matcher* filter,
                                       const expression_context& context)
{
    auto made = std::make_unique<compiled>();
    made->spec = bson::document{spec};
    made->plan.filter = filter;
    made->plan.context = context;
    if (auto read = projecting::read_plan(made->spec, made->plan); !read)
        return std::move(read).error();
    return projection{std::move(made)};
}

bool projection::keeps_everything() const noexcept
{
    return compiled_->plan.everything;
}

result<bson::document> projection::apply(bson::view document) const
{
    if (compiled_->plan.everything)
        return bson::document{document};
    return projecting::apply_plan(compiled_->plan, document);
}

}  // namespace holdfast::lab
