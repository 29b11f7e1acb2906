extension Command {
    static let completions = Command(
        "completions", usages: ["bash|zsh|fish"], "prints completions for a shell",
        details: [
            "bash: put `source <(respool completions bash)` in ~/.bashrc. zsh: write it to a file `_respool` in a folder of "
                + "$fpath. fish: write it to ~/.config/fish/completions/respool.fish."
        ],
        operands: 1...1, operandSuggestion: .words(["bash", "zsh", "fish"])
    ) { arguments throws(CommandFailure) in
        guard let shell = CompletionScript.Shell(rawValue: arguments.operands[0]) else {
            throw .usage("there are no completions for '\(arguments.operands[0])': give bash, zsh or fish")
        }
        StandardStream.output(CompletionScript(shell: shell).text())
        return .success
    }

    static let manual = Command("man", "prints the manual page; see it with `respool man | man -l -`") { _ in
        StandardStream.output(ManualPage().text())
        return .success
    }
}
