// A plugin of clang-tidy: its checks walk through the declarations of our own files alone. By itself clang-tidy
// 14 walks through those of every header that is included, too, which takes most of its time, and throws away
// what it finds there.
//
// Our own are the files that are not included as system headers. clang_tidy.py makes and loads it.
#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Frontend/FrontendPluginRegistry.h>

#include <memory>
#include <string>
#include <vector>

namespace {

class OwnDeclarations final : public clang::ASTConsumer {
 public:
  bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
    declarations_.insert(declarations_.end(), group.begin(), group.end());
    return true;
  }

  void HandleTranslationUnit(clang::ASTContext& context) override {
    const clang::SourceManager& sources = context.getSourceManager();
    std::erase_if(declarations_, [&sources](const clang::Decl* declaration) {
      return sources.isInSystemHeader(sources.getExpansionLoc(declaration->getLocation()));
    });
    context.setTraversalScope(declarations_);
  }

 private:
  std::vector<clang::Decl*> declarations_;
};

// Runs before clang-tidy's own consumer.
class OwnDeclarationsAction final : public clang::PluginASTAction {
 public:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance&, llvm::StringRef) override {
    return std::make_unique<OwnDeclarations>();
  }
  bool ParseArgs(const clang::CompilerInstance&, const std::vector<std::string>&) override { return true; }
  ActionType getActionType() override { return AddBeforeMainAction; }
};

const clang::FrontendPluginRegistry::Add<OwnDeclarationsAction> kRegistration(
    "own-declarations", "checks walk through our own files alone");

}  // namespace
