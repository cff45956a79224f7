#include "lab/mongo/update/update.hpp"

#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/update/id_text.hpp"
#include "lab/mongo/update/operators.hpp"
#include "lab/mongo/update/rewriter.hpp"
#include "lab/mongo/update/whole.hpp"

#include <string>
#include <utility>

namespace holdfast::lab {

using namespace updating;

struct update::compiled {
    std::optional<collation> by;
    expression_context context;  // a copy: filters and stages point to it
    bson::document array_filters = {};
    // One of these three.
    std::unique_ptr<operators> changes = {};
    std::optional<bson::document> replacement = {};
    std::optional<pipeline> stages = {};

    result<void> read(const update_spec& spec);
    result<void> read_document(const update_spec& spec);
    result<bson::document> change(bson::view document, const match_details* where,
                                  bool inserting) const;
};

result<void> update::compiled::read_document(const update_spec& spec)
{
    const bson::view change = spec.change.as_document();
    if (auto fine = check_bytes(change, bson::max_depth + 4); !fine)
        return fine;
    if (!change.empty() && change.begin()->key().starts_with('$')) {
        if (!spec.array_filters.empty())
            array_filters = bson::document{spec.array_filters.as_document()};
        changes = std::make_unique<operators>(change);
        return changes->parse(bson::array_view{array_filters.view()}, {by, context});
    }
    if (spec.multi)
        return refuse(server_code::failed_to_parse,
                      "multi update is not supported for replacement-style update");
    if (!spec.array_filters.empty())
        return refuse(server_code::failed_to_parse,
                      "arrayFilters may not be specified for replacement-style updates");
    if (auto fine = check_bytes(change, bson::max_depth); !fine)
        return fine;
    if (auto fine = check_replacement(change); !fine)
        return fine;
    replacement = bson::document{change};
    return {};
}

result<void> update::compiled::read(const update_spec& spec)
{
    if (auto fine = check_bytes(spec.array_filters.as_document(), bson::max_depth); !fine)
        return fine;
    if (spec.change.type() == bson::type::document)
        return read_document(spec);
    if (spec.change.type() != bson::type::array)
        return refuse(server_code::failed_to_parse,
                      "Update argument must be either an object or an array");
    if (!spec.array_filters.empty())
        return refuse(server_code::failed_to_parse,
                      "arrayFilters may not be specified for pipeline-style updates");
    if (auto fine = check_bytes(spec.change.as_document(), bson::max_depth + 4); !fine)
        return fine;
    auto made = compile_stages(spec.change.as_array(), by, context);
    if (!made)
        return std::move(made).error();
    stages.emplace(*std::move(made));
    return {};
}

result<bson::document> update::compiled::change(bson::view document, const match_details* where,
                                                bool inserting) const
{
    if (replacement)
        return replace(document, *replacement, context.cluster_time);
    if (stages) {
        auto made = run_stages(*stages, document);
        if (!made)
            return made;
        return replace(document, *made);
    }
    const surroundings around{where, by ? &*by : nullptr, context.now, context.cluster_time,
                              inserting};
    bson::byte_buffer bytes;
    bytes.reserve(document.size() + changes->source.size());
    if (auto done = rewriter{bytes, document, around}.apply(*changes); !done)
        return std::move(done).error();
    return bson::document::adopt(std::move(bytes));
}

update::update(std::unique_ptr<compiled> made) : compiled_{std::move(made)} {}
update::update(update&&) noexcept = default;
update& update::operator=(update&&) noexcept = default;
update::~update() = default;

result<update> update::compile(const update_spec& spec, const std::optional<collation>& by,
                               const expression_context& context)
{
    auto made = std::make_unique<compiled>(compiled{by, context});
    if (auto read = made->read(spec); !read)
        return std::move(read).error();
    return update{std::move(made)};
}

bool update::is_replacement() const noexcept
{
    return compiled_->replacement.has_value();
}

result<updated> update::apply(bson::view document, const match_details& where) const
{
    auto made = compiled_->change(document, &where, false);
    if (!made)
        return std::move(made).error();
    const bool changed = made->view() != document;
    return updated{*std::move(made), changed};
}

result<bson::document> update::upserted(const matcher& filter) const
{
    auto base = from_equalities(filter.equalities(), is_replacement());
    if (!base)
        return base;
    auto made = compiled_->change(*base, nullptr, true);
    if (!made)
        return made;
    return ready_to_insert(*std::move(made));
}

}  // namespace holdfast::lab
