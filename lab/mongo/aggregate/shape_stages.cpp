#include "lab/mongo/aggregate/shape.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/expression/compiler.hpp"
#include "lab/mongo/expression/node.hpp"

#include <utility>

namespace holdfast::lab::staging {

namespace {

class shape_stage final : public stage {
public:
    explicit shape_stage(shape_plan plan) : plan_{std::move(plan)} {}
    result<documents> run(documents in, runner& with) const override
    {
        room left{with};
        for (bson::document& d : in) {
            auto made = apply_shape(plan_, d);
            if (!made)
                return std::move(made).error();
            if (auto good = left.take(*made); !good)
                return std::move(good).error();
            d = *std::move(made);
        }
        return in;
    }

private:
    shape_plan plan_;
};

/// The servers name the stage in such an error.
result<stage_ptr> make(result<shape_plan> plan, const bson::element& spec)
{
    if (!plan)
        return refuse(plan.error().code().value(),
                      "Invalid " + std::string{spec.key()} +
                          " :: caused by :: " + plan.error().message());
    return std::make_unique<shape_stage>(*std::move(plan));
}

// ---- $unwind ----

struct unwind_options {
    std::vector<std::string> path;
    std::vector<std::string> index;  // of includeArrayIndex; empty: none
    bool preserve = false;
};

class unwind_stage final : public stage {
public:
    explicit unwind_stage(unwind_options by) : by_{std::move(by)} {}
    result<documents> run(documents in, runner& with) const override
    {
        documents made;
        room left{with};
        for (bson::document& d : in) {
            const std::size_t before = made.size();
            if (auto done = unwind(std::move(d), made, left); !done)
                return std::move(done).error();
            if (auto paid = with.spend(made.size() - before); !paid)
                return std::move(paid).error();
        }
        return made;
    }

private:
    result<void> unwind(bson::document from, documents& to, room& left) const
    {
        const bson::element found = plain_path(from, by_.path);
        if (computing::is_nullish(found)) {
            if (by_.preserve)
                to.push_back(indexed(std::move(from), {}));
            return {};
        }
        if (found.type() != bson::type::array) {
            to.push_back(indexed(std::move(from), {}));
            return {};
        }
        std::int64_t at = 0;
        for (const bson::element& e : found.as_array()) {
            if (e.malformed())
                break;
            to.push_back(indexed(with_path(from, by_.path, e), at++));
            if (auto good = left.take(to.back()); !good)
                return good;
        }
        if (at == 0 && by_.preserve)
            to.push_back(indexed(with_path(from, by_.path, {}), {}));
        return {};
    }

    bson::document indexed(bson::document d, std::optional<std::int64_t> at) const
    {
        if (by_.index.empty())
            return d;
        const value index = at ? value::of(*at) : value::of(bson::null{});
        return with_path(d, by_.index, index.get());
    }

    unwind_options by_;
};

result<unwind_options> read_unwind(const bson::element& spec)
{
    unwind_options made;
    std::string_view path;
    bool has_path = spec.type() == bson::type::string;
    if (has_path) {
        path = spec.as_string();
    } else if (spec.type() != bson::type::document) {
        return refuse(15981,
                      "expected either a string or an object as specification for $unwind stage, "
                      "got " +
                          computing::type_text(spec));
    } else {
        for (const bson::element& e : spec.as_document()) {
            const bool text = e.type() == bson::type::string;
            if (e.key() == "path") {
                if (!text)
                    return refuse(28808, "expected a string as the path for $unwind stage, got " +
                                             computing::type_text(e));
                path = e.as_string();
                has_path = true;
            } else if (e.key() == "preserveNullAndEmptyArrays") {
                if (e.type() != bson::type::boolean)
                    return refuse(28809,
                                  "expected a boolean for the preserveNullAndEmptyArrays "
                                  "option to $unwind stage, got " +
                                      computing::type_text(e));
                made.preserve = e.as_bool();
            } else if (e.key() == "includeArrayIndex") {
                if (!text || e.as_string().empty())
                    return refuse(28810,
                                  "expected a non-empty string for the includeArrayIndex  "
                                  "option to $unwind stage");
                if (e.as_string().starts_with('$'))
                    return refuse(28822,
                                  "includeArrayIndex option to $unwind stage should not be "
                                  "prefixed with a '$': " +
                                      std::string{e.as_string()});
                auto index = computing::split_path(e.as_string());
                if (!index)
                    return std::move(index).error();
                made.index = *std::move(index);
            } else {
                return refuse(28811,
                              "unrecognized option to $unwind stage: " + std::string{e.key()});
            }
        }
    }
    if (!has_path)
        return refuse(28812, "no path specified to $unwind stage");
    if (!path.starts_with('$'))
        return refuse(28818, "path option to $unwind stage should be prefixed with a '$': " +
                                 std::string{path});
    auto names = computing::split_path(path.substr(1));
    if (!names)
        return std::move(names).error();
    made.path = *std::move(names);
    return made;
}

}  // namespace

result<stage_ptr> make_project(const bson::element& spec, const surroundings& in, stage_list&)
{
    if (spec.type() != bson::type::document)
        return refuse(15969, "$project specification must be an object");
    return make(read_projection(spec.as_document(), in), spec);
}

result<stage_ptr> make_add_fields(const bson::element& spec, const surroundings& in, stage_list&)
{
    if (spec.type() != bson::type::document)
        return refuse(40272, std::string{spec.key()} +
                                 " specification stage must be an object, got " +
                                 computing::type_text(spec));
    return make(read_additions(spec.as_document(), in), spec);
}

result<stage_ptr> make_unset(const bson::element& spec, const surroundings&, stage_list&)
{
    std::vector<std::string_view> paths;
    if (spec.type() == bson::type::string) {
        paths.push_back(spec.as_string());
    } else if (spec.type() != bson::type::array) {
        return refuse(31002, "$unset specification must be a string or an array");
    } else {
        for (const bson::element& e : spec.as_array()) {
            if (e.type() != bson::type::string)
                return refuse(31120,
                              "$unset specification must be a string or an array containing "
                              "only string values");
            paths.push_back(e.as_string());
        }
        if (paths.empty())
            return refuse(31119,
                          "$unset specification must be a string or an array with at least "
                          "one field");
    }
    return make(read_removals(paths), spec);
}

result<stage_ptr> make_unwind(const bson::element& spec, const surroundings&, stage_list&)
{
    auto by = read_unwind(spec);
    if (!by)
        return std::move(by).error();
    return std::make_unique<unwind_stage>(*std::move(by));
}

}  // namespace holdfast::lab::staging
