/// A shell completion script, generated from the options of the commands.
struct CompletionScript {
    enum Shell: String, CaseIterable {
        case bash, zsh, fish
    }

    let shell: Shell

    func text() -> String {
        switch shell {
        case .bash: bash()
        // zsh can use bash completions after bashcompinit.
        case .zsh: "#compdef respool\nautoload -U +X bashcompinit && bashcompinit\n" + bash()
        case .fish: fish()
        }
    }

    private func names(_ option: Option) -> [String] {
        ([option.name] + option.aliases).map { "--\($0)" } + (option.letter.map { ["-\($0)"] } ?? [])
    }

    private func bash() -> String {
        let cases = Command.all.map { command in
            let options = command.options.flatMap(names).joined(separator: " ")
            let values = command.options.filter { $0.placeholder != nil }.map {
                "            \(names($0).joined(separator: "|"))) \(bashWords($0.suggestion)); return ;;"
            }
            return """
                    \(command.name))
                        case "$previous" in
                \(values.joined(separator: "\n"))
                        esac
                        if [[ $word == -* ]]; then COMPREPLY=($(compgen -W '\(options)' -- "$word"))
                        else \(bashWords(command.operandSuggestion)); fi ;;
                """
        }
        return """
            _respool() {
                local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
                COMPREPLY=()
                if ((COMP_CWORD == 1)); then
                    COMPREPLY=($(compgen -W '\(Command.all.map(\.name).joined(separator: " ")) --help --version' -- "$word"))
                    return
                fi
                case ${COMP_WORDS[1]} in
            \(cases.joined(separator: "\n"))
                esac
            }
            complete -F _respool respool

            """
    }

    private func bashWords(_ suggestion: Option.Suggestion) -> String {
        switch suggestion {
        case .nothing: ":"
        case .files: #"compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$word"))"#
        case .folders: #"compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$word"))"#
        case .words(let words): #"COMPREPLY=($(compgen -W '\#(words.joined(separator: " "))' -- "$word"))"#
        }
    }

    private func fish() -> String {
        var lines = ["complete -c respool -f"]
        for command in Command.all {
            lines.append(
                "complete -c respool -n __fish_use_subcommand -a \(command.name) -d \(quoted(command.summary))")
            let condition = "-n '__fish_seen_subcommand_from \(command.name)'"
            if let words = fishWords(command.operandSuggestion) {
                lines.append("complete -c respool \(condition) \(words)")
            }
            for option in command.options {
                let long = ([option.name] + option.aliases).map { "-l \($0)" }.joined(separator: " ")
                let letter = option.letter.map { " -s \($0)" } ?? ""
                let value = option.placeholder == nil ? "" : " -r \(fishWords(option.suggestion) ?? "-f")"
                lines.append("complete -c respool \(condition) \(long)\(letter)\(value) -d \(quoted(option.summary))")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func fishWords(_ suggestion: Option.Suggestion) -> String? {
        switch suggestion {
        case .nothing: nil
        case .files: "-F"
        case .folders: "-a '(__fish_complete_directories)'"
        case .words(let words): "-a \(quoted(words.joined(separator: " ")))"
        }
    }

    private func quoted(_ text: String) -> String {
        "'" + text.map { $0 == "'" || $0 == "\\" ? "\\\($0)" : String($0) }.joined() + "'"
    }
}
