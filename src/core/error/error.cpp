#include "holdfast/error.hpp"

#include <algorithm>
#include <cassert>

namespace holdfast {

struct error::story {
    error_code code;
    std::string message;
    std::vector<std::string> labels;  // a handful: a linear search beats a tree, and keeps order
    std::vector<context_entry> context;
    std::vector<attempt> history;
    std::shared_ptr<const error_detail> detail;  // never changed, so copies share it
};

error::error(error_code code, std::string message)
    : story_{std::make_unique<story>(story{code, std::move(message), {}, {}, {}, {}})}
{
}

error::error(const error& other)
    : story_{other.story_ ? std::make_unique<story>(*other.story_) : nullptr}
{
}

error& error::operator=(const error& other)
{
    if (this != &other)
        *this = error{other};  // the copy may throw, the move does not
    return *this;
}

error::error(error&&) noexcept = default;
error& error::operator=(error&&) noexcept = default;
error::~error() = default;

error_code error::code() const noexcept
{
    assert(story_);
    return story_->code;
}

const std::string& error::message() const noexcept
{
    assert(story_);
    return story_->message;
}

bool error::has_label(std::string_view label) const noexcept
{
    assert(story_);
    return std::ranges::find(story_->labels, label) != story_->labels.end();
}

std::span<const std::string> error::labels() const noexcept
{
    assert(story_);
    return story_->labels;
}

std::string_view error::context(std::string_view name) const noexcept
{
    assert(story_);
    const auto entry = std::ranges::find(story_->context, name, &context_entry::name);
    return entry == story_->context.end() ? std::string_view{} : entry->value;
}

std::span<const context_entry> error::context() const noexcept
{
    assert(story_);
    return story_->context;
}

std::span<const attempt> error::history() const noexcept
{
    assert(story_);
    return story_->history;
}

const error_detail* error::detail() const noexcept
{
    assert(story_);
    return story_->detail.get();
}

error&& error::with_label(std::string_view label) &&
{
    if (!has_label(label))
        story_->labels.emplace_back(label);
    return std::move(*this);
}

error&& error::with_context(std::string_view name, std::string value) &&
{
    assert(story_);
    const auto entry = std::ranges::find(story_->context, name, &context_entry::name);
    if (entry == story_->context.end())
        story_->context.push_back({std::string{name}, std::move(value)});
    else
        entry->value = std::move(value);
    return std::move(*this);
}

error&& error::with_history(std::vector<attempt> attempts) &&
{
    assert(story_);
    story_->history = std::move(attempts);
    return std::move(*this);
}

error&& error::with_detail(std::shared_ptr<const error_detail> more) &&
{
    assert(story_);
    story_->detail = std::move(more);
    return std::move(*this);
}

namespace {

constexpr std::string_view operation_entry = "operation";

/// Facts that other lines have already: the operation begins with its namespace in it, the message
/// of a refusal has its code, and a cause that is the message itself adds nothing.
bool is_repetition(const context_entry& entry, bool has_operation, std::string_view message)
{
    return entry.name == operation_entry || entry.name == "code" ||
           (entry.name == "namespace" && has_operation) ||
           (entry.name == "cause" && entry.value == message);
}

/// "bson:6 wrong type": the category makes the number mean something.
std::string to_text(error_code code)
{
    if (!code.failed())
        return "no error";
    return std::string{code.category().name()} + ':' + std::to_string(code.value()) + ' ' +
           code.message();
}

std::string_view to_text(dispatch_phase phase)
{
    switch (phase) {
    case dispatch_phase::not_sent: return "not sent";
    case dispatch_phase::in_flight: return "in flight";
    case dispatch_phase::answered: return "answered";
    }
    return "unknown phase";
}

/// Four digits are enough for a reader, so the unit grows with the value.
std::string to_text(duration time)
{
    using namespace std::chrono;
    if (time < 10ms)
        return std::to_string(duration_cast<microseconds>(time).count()) + " us";
    if (time < 10s)
        return std::to_string(duration_cast<milliseconds>(time).count()) + " ms";
    return std::to_string(duration_cast<seconds>(time).count()) + " s";
}

std::string joined(std::span<const std::string> labels)
{
    std::string all;
    for (const std::string& label : labels)
        all.append(all.empty() ? "" : ", ").append(label);
    return all;
}

std::string to_text(const attempt& a)
{
    std::string line = a.server.value().empty() ? "no server" : a.server.value();
    line.append(", ").append(to_text(a.phase)).append(", ").append(to_text(a.cause));
    if (!a.labels.empty())
        line.append(" [").append(joined(a.labels)).append("]");
    line.append(", began at ").append(to_text(a.started));
    line.append(", took ").append(to_text(a.took));
    if (a.waited != duration::zero())
        line.append(", waited ").append(to_text(a.waited));
    if (!a.decision.empty())
        line.append(": ").append(a.decision);
    return line;
}

}  // namespace

std::string error::summary() const
{
    assert(story_);
    std::string text{context(operation_entry)};
    if (!text.empty())
        text += ": ";
    return text + story_->message;
}

std::string error::explain() const
{
    assert(story_);
    std::string text = summary();
    text.append("\n  code: ").append(to_text(story_->code));
    if (!story_->labels.empty())
        text.append("\n  labels: ").append(joined(story_->labels));
    const bool has_operation = !context(operation_entry).empty();
    for (const context_entry& entry : story_->context)
        if (!is_repetition(entry, has_operation, story_->message))
            text.append("\n  ").append(entry.name).append(": ").append(entry.value);
    for (std::size_t i = 0; i < story_->history.size(); ++i) {
        text.append("\n  attempt ").append(std::to_string(i + 1)).append(": ");
        text.append(to_text(story_->history[i]));
    }
    return text;
}

}  // namespace holdfast
