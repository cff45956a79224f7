#include "lab/couchbase/n1ql/change.hpp"

#include "lab/couchbase/n1ql/query_error.hpp"
#include "lab/couchbase/n1ql/row_source.hpp"

#include <utility>

namespace holdfast::lab::couchbase::n1ql {

namespace {

/// What all three have: the row that is given back, and counts.
class change_run : public running {
public:
    change_run(keyspace of, std::string alias, const returning& gives, datastore& on,
               environment& in)
        : of_{std::move(of)}, alias_{std::move(alias)}, gives_{gives}, on_{on}, in_{in}
    {
    }

    run_counts counts() const override { return {mutations_, 0}; }

protected:
    row_view view_of(const source_row& row) const
    {
        return {true, alias_, &row.content, row.metadata ? &*row.metadata : nullptr, nullptr};
    }

    /// After a change.
    result<progress> give(const source_row& changed, std::string& to)
    {
        ++mutations_;
        if (gives_.projections.empty())
            return progress::work;
        const json::value row = project(gives_.projections, gives_.raw, view_of(changed), in_);
        if (auto fine = check(in_); !fine)
            return std::move(fine).error();
        append_json(to, row);
        return progress::row;
    }

    keyspace of_;
    std::string alias_;
    const returning& gives_;
    datastore& on_;
    environment& in_;
    std::uint64_t mutations_ = 0;
};

class insert_run final : public change_run {
public:
    insert_run(const insert_statement& what, keyspace into, datastore& on, environment& in,
               run_options options)
        : change_run{std::move(into), what.alias, what.gives, on, in},
          what_{what},
          options_{options}
    {
    }

    result<progress> next(std::string& to) override;

private:
    const insert_statement& what_;
    run_options options_;
    std::size_t at_ = 0;
};

std::uint32_t expiration_in(const value& of)
{
    const auto seconds = integer_in(of);
    return seconds && *seconds > 0 ? static_cast<std::uint32_t>(*seconds) : 0;
}

result<progress> insert_run::next(std::string& to)
{
    if (at_ == what_.rows.size())
        return progress::end;
    in_.made_bytes = 0;
    const insert_statement::row& one = what_.rows[at_++];
    const value key = evaluate(*one.key, {}, in_);
    value content = evaluate(*one.content, {}, in_);
    const value options = one.options ? evaluate(*one.options, {}, in_) : value{};
    if (auto fine = check(in_); !fine)
        return std::move(fine).error();
    const std::string verb = what_.replaces ? "UPSERT" : "INSERT";
    if (!string_in(key))
        return refuse(query_code::key_type, "Cannot " + verb + " non-string key " +
                                                (key ? json_text(*key) : "missing") + ".");
    if (!content)
        return refuse(query_code::key_type, "Cannot " + verb + " a value that is missing.");
    new_item made{json_text(*content)};
    if (const json::object* const given = options ? options->if_object() : nullptr) {
        if (const json::value* const seconds = given->if_contains("expiration"))
            made.expiry = expiration_in(*seconds);
    }
    made.preserve_expiry = options_.preserve_expiry;
    const std::string id{view(*string_in(key))};
    auto stored = on_.store(of_, what_.replaces ? change_kind::upsert : change_kind::insert, id,
                            made);
    if (!stored)
        return std::move(stored).error();
    return give({*std::move(content), *std::move(stored)}, to);
}

/// UPDATE and DELETE: what they have to look at.
class searching_run : public change_run {
public:
    searching_run(const source& what, keyspace in_keyspace, const expression_ptr& where,
                  const returning& gives, datastore& on, environment& in,
                  std::unique_ptr<row_source> from, std::optional<std::uint64_t> most)
        : change_run{std::move(in_keyspace), what.alias, gives, on, in},
          where_{where},
          from_{std::move(from)},
          left_{most.value_or(~std::uint64_t{0})}
    {
    }

    result<progress> next(std::string& to) final
    {
        if (left_ == 0)
            return progress::end;
        in_.made_bytes = 0;
        source_row row;
        const auto found = from_->next(row);
        if (!found)
            return error{found.error()};
        if (*found != progress::row)
            return *found;
        const bool wanted = holds(where_, view_of(row), in_);
        if (auto fine = check(in_); !fine)
            return std::move(fine).error();
        if (!wanted)
            return progress::work;
        --left_;
        return change(row, to);
    }

protected:
    virtual result<progress> change(source_row& row, std::string& to) = 0;

private:
    const expression_ptr& where_;
    std::unique_ptr<row_source> from_;
    std::uint64_t left_;
};

class update_run final : public searching_run {
public:
    template <class... Others>
    update_run(const update_statement& what, run_options options, Others&&... others)
        : searching_run{what.what, std::forward<Others>(others)...}, what_{what}, options_{options}
    {
    }

private:
    result<progress> change(source_row& row, std::string& to) override;
    void assign(const assignment& one, const row_view& before, source_row& row,
                std::optional<std::uint32_t>& expiry);

    const update_statement& what_;
    run_options options_;
};

/// The value that a step leads to; null if there is none.
json::value* entered(json::value* at, const path_step& step, const row_view& row, environment& in)
{
    if (!step.index) {
        json::object* const object = at->if_object();
        return object ? object->if_contains(step.field) : nullptr;
    }
    json::array* const list = at->if_array();
    const auto place = integer_in(evaluate(*step.index, row, in));
    const bool fits = list && place && *place >= 0 &&
                      *place < static_cast<std::int64_t>(list->size());
    return fits ? &(*list)[static_cast<std::size_t>(*place)] : nullptr;
}

/// What a path does not lead to stays as it is: no parents are made.
void update_run::assign(const assignment& one, const row_view& before, source_row& row,
                        std::optional<std::uint32_t>& expiry)
{
    value made = one.to ? evaluate(*one.to, before, in_) : value{};
    if (one.expiration) {
        expiry = expiration_in(made);
        return;
    }
    json::value* at = &row.content;
    for (std::size_t n = 0; at && n + 1 < one.steps.size(); ++n)
        at = entered(at, one.steps[n], before, in_);
    if (!at)
        return;
    const path_step& last = one.steps.back();
    json::object* const object = at->if_object();
    if (last.index) {
        json::value* const element = entered(at, last, before, in_);
        if (element && made)
            *element = *std::move(made);
    } else if (object && made) {
        (*object)[last.field] = *std::move(made);
    } else if (object && object->contains(last.field)) {
        object->stable_erase(object->find(last.field));
    }
}

result<progress> update_run::change(source_row& row, std::string& to)
{
    const source_row before = row;
    const row_view seen = view_of(before);
    std::optional<std::uint32_t> expiry;
    for (const assignment& one : what_.changes)
        assign(one, seen, row, expiry);
    if (auto fine = check(in_); !fine)
        return std::move(fine).error();
    new_item made{json_text(row.content)};
    made.expiry = expiry.value_or(0);
    made.preserve_expiry = options_.preserve_expiry && !expiry;
    made.cas = row.metadata->cas;
    auto stored = on_.store(of_, change_kind::replace, row.metadata->id, made);
    if (!stored)
        return std::move(stored).error();
    row.metadata = *std::move(stored);
    return give(row, to);
}

class delete_run final : public searching_run {
public:
    using searching_run::searching_run;

private:
    result<progress> change(source_row& row, std::string& to) override
    {
        if (auto gone = on_.remove(of_, row.metadata->id, row.metadata->cas); !gone)
            return std::move(gone).error();
        return give(row, to);
    }
};

/// What UPDATE and DELETE begin with.
struct search {
    keyspace in;
    std::unique_ptr<row_source> from;
    std::optional<std::uint64_t> most;
};

result<search> begin_search(const source& what, const expression_ptr& limit, datastore& on,
                            environment& in)
{
    auto found = on.find(*what.keyspace, purpose::change);
    if (!found)
        return std::move(found).error();
    auto from = documents_of(*found, what.keys, on, in);
    if (!from)
        return std::move(from).error();
    auto most = row_count(limit, in, "LIMIT");
    if (!most)
        return std::move(most).error();
    return search{*std::move(found), *std::move(from), *most};
}

}  // namespace

result<std::unique_ptr<running>> start_insert(const insert_statement& what, datastore& on,
                                              environment& in, run_options options)
{
    auto found = on.find(what.into, purpose::change);
    if (!found)
        return std::move(found).error();
    return std::unique_ptr<running>{
        std::make_unique<insert_run>(what, *std::move(found), on, in, options)};
}

result<std::unique_ptr<running>> start_update(const update_statement& what, datastore& on,
                                              environment& in, run_options options)
{
    auto begun = begin_search(what.what, what.limit, on, in);
    if (!begun)
        return std::move(begun).error();
    return std::unique_ptr<running>{
        std::make_unique<update_run>(what, options, std::move(begun->in), what.where, what.gives,
                                     on, in, std::move(begun->from), begun->most)};
}

result<std::unique_ptr<running>> start_delete(const delete_statement& what, datastore& on,
                                              environment& in)
{
    auto begun = begin_search(what.what, what.limit, on, in);
    if (!begun)
        return std::move(begun).error();
    return std::unique_ptr<running>{
        std::make_unique<delete_run>(what.what, std::move(begun->in), what.where, what.gives, on,
                                     in, std::move(begun->from), begun->most)};
}

}  // namespace holdfast::lab::couchbase::n1ql
