#include "lab/mongo/document/compare.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/update/id_text.hpp"
#include "lab/mongo/update/number.hpp"
#include "lab/mongo/update/path.hpp"
#include "lab/mongo/update/rewriter.hpp"

#include <chrono>

namespace holdfast::lab::updating {
namespace {

using status = result<void>;

/// Where a path of plain names leads; an array on the way is reported, a scalar is an error.
struct walked {
    bson::element found = {};
    std::string_view array = {};  // the first array that was stepped into
};

result<walked> walk(bson::view document, std::string_view path)
{
    walked out;
    bson::element at;
    const auto parts = split(path);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i != 0) {
            const bool into_array = at.type() == bson::type::array;
            if (into_array ? !is_index(parts[i]) : at.type() != bson::type::document)
                return refuse(server_code::path_not_viable,
                              "Cannot use the part (" + std::string{parts[i]} + ") of (" +
                                  std::string{path} + ") to traverse the element ({" +
                                  shell_text_of(at) + "})");
            if (into_array && out.array.empty())
                out.array = at.key();
        }
        const bson::view inside = i == 0 ? document : at.as_document();
        at = at.type() == bson::type::array ? at.as_array()[index_of(parts[i])]
                                            : inside.find(parts[i]);
        if (at.malformed())
            return malformed_document();
        if (!at)
            return out;
    }
    out.found = at;
    return out;
}

error in_array(const char* end, std::string_view path, bson::view document, std::string_view array)
{
    return refuse(server_code::bad_value,
                  std::string{"The "} + end + " field cannot be an array element, '" +
                      std::string{path} + "' in doc with " + id_text(document) +
                      " has an array field called '" + std::string{array} + "'");
}

}  // namespace

/// Looks for what a rename moves. Its path meets no other one, so the original decides.
status rewriter::find_renamed(const operation& rename)
{
    auto source = walk(document_, rename.operand.key());
    if (!source)
        return std::move(source).error();
    renamed_.push_back(source->found);
    if (!source->found)
        return {};
    if (!source->array.empty())
        return in_array("source", rename.operand.key(), document_, source->array);
    // What stands in the way is reported where the value is written.
    const auto target = walk(document_, rename.path);
    if (target && !target->array.empty())
        return in_array("destination", rename.path, document_, target->array);
    if (split(rename.path).size() + depth_of(source->found) > max_path_parts)
        return refuse(server_code::overflow, "Document exceeds the maximum nesting depth of " +
                                                 std::to_string(max_path_parts));
    return {};
}

void rewriter::write_date(const operation& what, std::string_view key)
{
    const std::int64_t ms = around_.now.time_since_epoch().count();
    std::uint64_t value = static_cast<std::uint64_t>(ms);
    if (what.as_timestamp) {
        bson::timestamp at = around_.cluster_time;
        if (at == bson::timestamp{})
            at = {static_cast<std::uint32_t>(ms / 1000), 1};
        value = std::uint64_t{at.seconds} << 32 | at.increment;
    }
    std::uint8_t bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    out_.put(what.as_timestamp ? bson::type::timestamp : bson::type::datetime, key, bytes);
}

status rewriter::calculate(const operation& what, const bson::element& old)
{
    const auto current = number::of(old);
    const auto operand = number::of(what.operand);
    const std::string name{name_of(what.what)};
    if (!current)
        return refuse(server_code::type_mismatch,
                      "Cannot apply " + name + " to a value of non-numeric type. {" +
                          id_text(document_) + "} has the field '" + std::string{old.key()} +
                          "' of non-numeric type " + std::string{type_name(old.type())});
    const auto made = what.what == op::increment ? add(*current, *operand)
                                                 : multiply(*current, *operand);
    if (!made)
        return refuse(server_code::bad_value,
                      "Failed to apply " + name + " operations to current value (" +
                          current->text() + ") for document {" + id_text(document_) + "}");
    made->write(out_, old.key());
    return {};
}

/// A missing field counts as zero.
status rewriter::bits(const operation& what, const bson::element& old, std::string_view key)
{
    number value = old ? number::of(old).value_or(number{bson::type::double_}) : number{};
    if (!value.is_whole())
        return refuse(server_code::bad_value, "Cannot apply $bit to a value of non-integral type." +
                                                  id_text(document_) + " has the field " +
                                                  std::string{key} + " of non-integer type " +
                                                  std::string{type_name(old.type())});
    for (const bson::element& e : what.operand.as_document()) {
        const number mask = *number::of(e);
        if (e.key() == "and")
            value.whole &= mask.whole;
        else if (e.key() == "or")
            value.whole |= mask.whole;
        else
            value.whole ^= mask.whole;
        if (mask.type == bson::type::int64)
            value.type = mask.type;
    }
    value.write(out_, key);
    return {};
}

status rewriter::change(const operation& what, const bson::element& old, bool inside_array)
{
    switch (what.what) {
    case op::set:
        out_.copy(old.key(), what.operand);
        return {};
    case op::set_on_insert:
        out_.copy(old.key(), around_.inserting ? what.operand : old);
        return {};
    case op::unset:
        if (inside_array)
            out_.put(bson::type::null, old.key(), {});
        return {};
    case op::min:
    case op::max: {
        const auto order = compare(what.operand, old, around_.by);
        out_.copy(old.key(), (what.what == op::min ? order < 0 : order > 0) ? what.operand : old);
        return {};
    }
    case op::rename:
        out_.copy(old.key(), renamed_[what.rename] ? renamed_[what.rename] : old);
        return {};
    case op::renamed:
        return {};
    case op::increment:
    case op::multiply:
        return calculate(what, old);
    case op::current_date:
        write_date(what, old.key());
        return {};
    case op::bit:
        return bits(what, old, old.key());
    case op::push:
        return push(what, old, old.key());
    case op::add_to_set:
        return add_to_set(what, old, old.key());
    case op::pull:
    case op::pull_all:
        return pull(what, old);
    case op::pop:
        return pop(what, old);
    }
    return {};
}

/// The field is not there. Says whether it is now.
result<bool> rewriter::make(const operation& what, std::string_view key)
{
    status done;
    switch (what.what) {
    case op::set_on_insert:
        if (!around_.inserting)
            return false;
        [[fallthrough]];
    case op::set:
    case op::min:
    case op::max:
    case op::increment:
        out_.copy(key, what.operand);
        return true;
    case op::multiply: {
        // Zero times a decimal has its exponent: 0.0 for 0.5.
        const number operand = *number::of(what.operand);
        const auto product = operand.type == bson::type::decimal128 ? multiply(number{}, operand)
                                                                    : std::nullopt;
        product.value_or(operand.zero()).write(out_, key);
        return true;
    }
    case op::rename:
        if (!renamed_[what.rename])
            return false;
        out_.copy(key, renamed_[what.rename]);
        return true;
    case op::current_date:
        write_date(what, key);
        return true;
    case op::bit:
        done = bits(what, {}, key);
        break;
    case op::push:
        done = push(what, {}, key);
        break;
    case op::add_to_set:
        done = add_to_set(what, {}, key);
        break;
    case op::unset:
    case op::renamed:
    case op::pull:
    case op::pull_all:
    case op::pop:
        return false;
    }
    if (!done)
        return std::move(done).error();
    return true;
}

}  // namespace holdfast::lab::updating
