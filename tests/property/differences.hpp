#pragma once
#include <cstddef>
#include <iostream>
#include <string_view>
#include <vector>

namespace holdfast::property {

/// One way in which libbson and we are known to differ, and why we do not follow it. Whether a case
/// is one of this kind is decided by looking at the case, so that nothing else hides behind it.
template <class Case>
struct difference {
    std::string_view what;
    std::string_view backed_by;  // an official case or rule, or a limit that we document
    bool (*explains)(const Case&);
};

/// All known differences of one property. Counts how often each was seen and prints that at the
/// end; a case that no row explains is a failure of the property.
template <class Case>
class difference_table {
public:
    difference_table(std::string_view about, std::vector<difference<Case>> rows)
        : about_{about}, rows_{std::move(rows)}, seen_(rows_.size())
    {
    }
    difference_table(const difference_table&) = delete;
    difference_table& operator=(const difference_table&) = delete;
    ~difference_table() { print(); }

    bool explains(const Case& c)
    {
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            if (rows_[i].explains(c)) {
                ++seen_[i];
                return true;
            }
        }
        return false;
    }

private:
    void print() const
    {
        std::cout << "known differences from libbson: " << about_ << '\n';
        for (std::size_t i = 0; i < rows_.size(); ++i)
            std::cout << "    " << seen_[i] << " times: " << rows_[i].what << " ("
                      << rows_[i].backed_by << ")\n";
    }

    std::string_view about_;
    std::vector<difference<Case>> rows_;
    std::vector<std::size_t> seen_;
};

}  // namespace holdfast::property
