#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace holdfast::proof {

/// The files that make_certificates.sh makes, once per process, in a folder that goes with it.
class certificates {
public:
    static constexpr const char* password = "canary-7Q2x";  // of encrypted.pem

    /// The path of one of them: file("server.pem").
    static std::string file(const std::string& name)
    {
        static const certificates all;
        return (all.folder_ / name).string();
    }

private:
    certificates()
    {
        namespace fs = std::filesystem;
        std::string pattern = (fs::path{testing::TempDir()} / "holdfast_tls_XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr) {
            ADD_FAILURE() << "cannot make a folder like " << pattern;
            return;
        }
        folder_ = pattern;
        const fs::path script = fs::path{__FILE__}.parent_path() / "make_certificates.sh";
        const std::string command = "sh '" + script.string() + "' '" + folder_.string() + "'";
        if (std::system(command.c_str()) != 0)
            ADD_FAILURE() << "certificates cannot be made by: " << command;
    }
    ~certificates()
    {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }

    std::filesystem::path folder_;
};

}  // namespace holdfast::proof
