#pragma once
#include "holdfast/error.hpp"
#include "lab/couchbase/n1ql/tokens.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab::couchbase::n1ql {

/// Walks over the tokens of a statement. After the first error it stands at the end of the input,
/// where nothing is accepted any more: what is made from then on is never used.
class token_reader {
public:
    token_reader(std::string_view text, std::vector<token> tokens) noexcept
        : text_{text}, tokens_{std::move(tokens)}
    {
    }

    const token& here() const noexcept { return tokens_[at_]; }
    const token& ahead(std::size_t count = 1) const noexcept;
    bool is_at_end() const noexcept { return here().kind == token_kind::end; }
    bool is_symbol(std::string_view symbol) const noexcept;
    bool is(std::string_view keyword) const noexcept { return is_keyword(here(), keyword); }
    /// Whether a name stands here that is not reserved.
    bool is_name() const noexcept;

    token take();
    bool accept_symbol(std::string_view symbol);
    bool accept(std::string_view keyword);
    bool accept_both(std::string_view first, std::string_view second);
    void expect_symbol(std::string_view symbol);
    void expect(std::string_view keyword);
    std::string expect_name();
    std::vector<std::string> expect_dotted_names();

    void fail(std::string_view problem = {});
    const std::optional<error>& failed() const noexcept { return failed_; }

    std::string_view text() const noexcept { return text_; }
    /// Between two places in the statement, without blanks around it.
    std::string_view text_between(std::size_t begin, std::size_t end) const noexcept;

private:
    std::string_view text_;
    std::vector<token> tokens_;
    std::size_t at_ = 0;
    std::optional<error> failed_ = {};
};

}  // namespace holdfast::lab::couchbase::n1ql
