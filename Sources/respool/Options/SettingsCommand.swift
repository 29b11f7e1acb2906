import Configuration

extension Command {
    static let settings = Command(
        "settings", "lists the environment variables, with what they mean, their form and their default",
        options: [SettingsOptions.markdown]
    ) { arguments in
        StandardStream.output(
            arguments.has(SettingsOptions.markdown)
                ? Settings.markdown : HelpPage().settings(Settings.all).map { $0 + "\n" }.joined())
        return .success
    }
}

enum SettingsOptions {
    static let markdown = Option("markdown", "prints the table of docs/settings.md")
}
