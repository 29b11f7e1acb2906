package import Configuration

extension QueueSettings {
    /// The defaults, and what the environment has instead.
    package init(_ environment: Environment) throws(SettingError) {
        self.init()
        maxCrashes = try environment.value(Settings.maxCrashes) ?? maxCrashes
        events = try environment.value(Settings.keepEvents) ?? events
        done.change(try environment.value(Settings.keepCompleted))
        failed.change(try environment.value(Settings.keepFailed))
        cancelled.change(try environment.value(Settings.keepCancelled))
        called.change(try environment.value(Settings.keepCallbacks))
    }
}

extension QueueSettings.Retention {
    /// Takes a count, and an age if there is one.
    fileprivate mutating func change(_ setting: CountAndAge?) {
        guard let setting else { return }
        self = QueueSettings.Retention(count: setting.count, age: setting.age ?? age)
    }
}
