#pragma once
#include "holdfast/bson/types.hpp"
#include "holdfast/error.hpp"

#include <memory>
#include <string_view>

// As pcre2.h declares them for eight bits; the header itself stays out of ours.
struct pcre2_real_code_8;
struct pcre2_real_match_data_8;
struct pcre2_real_match_context_8;

namespace holdfast::lab::filter {

/// A regular expression of a filter, compiled once. One object serves one thread at a time.
class regex {
public:
    /// Options are i, m, s, x and u. A bad pattern is 51091, a bad option 51108.
    static result<regex> compile(std::string_view pattern, std::string_view options);

    /// Whether it is found anywhere in the text. An error if that takes too many steps.
    result<bool> search(std::string_view text) const;

    /// As it was given: a regular expression also finds itself, stored as a value.
    const bson::regex& source() const noexcept { return source_; }

private:
    struct freed {
        void operator()(pcre2_real_code_8* p) const noexcept;
        void operator()(pcre2_real_match_data_8* p) const noexcept;
        void operator()(pcre2_real_match_context_8* p) const noexcept;
    };

    regex() = default;

    bson::regex source_;  // lies in the filter
    std::unique_ptr<pcre2_real_code_8, freed> code_;
    std::unique_ptr<pcre2_real_match_data_8, freed> match_;
    std::unique_ptr<pcre2_real_match_context_8, freed> limits_;
};

}  // namespace holdfast::lab::filter
