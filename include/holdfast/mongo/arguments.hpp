#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"
#include "holdfast/options.hpp"

#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>

/// What operations take where there is more than one way to say it. All are views: an operation
/// copies what it needs before it returns.
namespace holdfast::mongo {

/// Any value, for options that take any: a comment.
class any_value {
public:
    any_value() = default;
    any_value(const char* text) noexcept : kind_{kind::text}, text_{text} {}
    any_value(std::string_view text) noexcept : kind_{kind::text}, text_{text} {}
    any_value(std::same_as<std::int32_t> auto number) noexcept : kind_{kind::int32}, number_{number}
    {
    }
    any_value(std::same_as<std::int64_t> auto number) noexcept : kind_{kind::int64}, number_{number}
    {
    }
    any_value(bson::view document) noexcept : kind_{kind::document}, document_{document} {}
    any_value(const bson::document& document) noexcept : any_value{document.view()} {}
    any_value(bson::array_view array) noexcept : kind_{kind::array}, document_{array.as_document()}
    {
    }
    any_value(const bson::element& element) noexcept : kind_{kind::element}, element_{element} {}

    bool empty() const noexcept { return kind_ == kind::nothing; }

    /// Adds it to a document; nothing if it is empty.
    template <class Builder>
    void write(Builder& out, std::string_view key) const
    {
        switch (kind_) {
        case kind::nothing:
            break;
        case kind::text:
            out.add(key, text_);
            break;
        case kind::int32:
            out.add(key, static_cast<std::int32_t>(number_));
            break;
        case kind::int64:
            out.add(key, number_);
            break;
        case kind::document:
            out.add(key, document_);
            break;
        case kind::array:
            out.add(key, bson::array_view{document_});
            break;
        case kind::element:
            out.copy(key, element_);
            break;
        }
    }

private:
    enum class kind : std::uint8_t { nothing, text, int32, int64, document, array, element };

    kind kind_ = kind::nothing;
    std::string_view text_ = {};
    std::int64_t number_ = 0;
    bson::view document_ = {};
    bson::element element_ = {};
};

/// An index, by its name or by its keys.
class index_hint {
public:
    index_hint() = default;
    index_hint(const char* name) noexcept : name_{name} {}
    index_hint(std::string_view name) noexcept : name_{name} {}
    index_hint(bson::view keys) noexcept : keys_{keys}, by_keys_{true} {}
    index_hint(const bson::document& keys) noexcept : index_hint{keys.view()} {}

    bool empty() const noexcept { return !by_keys_ && name_.empty(); }

    template <class Builder>
    void write(Builder& out, std::string_view key) const
    {
        if (by_keys_)
            out.add(key, keys_);
        else if (!name_.empty())
            out.add(key, name_);
    }

private:
    std::string_view name_ = {};
    bson::view keys_ = {};
    bool by_keys_ = false;
};

/// How documents are changed: by update operators, `set("a", 1)`, or by a pipeline of stages.
class update_view {
public:
    update_view(bson::view operators) noexcept : what_{operators} {}
    update_view(const bson::document& operators) noexcept : what_{operators.view()} {}
    update_view(bson::array_view pipeline) noexcept
        : what_{pipeline.as_document()}, is_pipeline_{true}
    {
    }
    update_view(const bson::array& pipeline) noexcept : update_view{pipeline.view()} {}

    bool is_pipeline() const noexcept { return is_pipeline_; }
    bson::view what() const noexcept { return what_; }

    template <class Builder>
    void write(Builder& out, std::string_view key) const
    {
        if (is_pipeline_)
            out.add(key, bson::array_view{what_});
        else
            out.add(key, what_);
    }

private:
    bson::view what_;
    bool is_pipeline_ = false;
};

/// A document to be stored, or the error of the struct that could not be mapped to one: the
/// operation fails with that error then. Refers to either, and owns neither.
class document_argument {
public:
    document_argument(bson::view document) noexcept : document_{document} {}
    document_argument(const bson::document& document) noexcept : document_{document.view()} {}
    explicit document_argument(const error& mapping_error) noexcept : error_{&mapping_error} {}

    bson::view view() const noexcept { return document_; }
    const error* mapping_error() const noexcept { return error_; }  // null: there is a document

private:
    bson::view document_ = {};
    const error* error_ = nullptr;
};

static_assert(std::is_trivially_copyable_v<document_argument>);
static_assert(std::is_trivially_copyable_v<any_value> && std::is_trivially_copyable_v<index_hint> &&
              std::is_trivially_copyable_v<update_view>);

}  // namespace holdfast::mongo
