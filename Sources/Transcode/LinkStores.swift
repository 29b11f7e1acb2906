import Media

/// The staged files of a job's outputs.
final class LinkStores: OutputStores {
    private let link: Link
    private let reporter: Reporter

    init(link: Link, reporter: Reporter) {
        self.link = link
        self.reporter = reporter
    }

    func open(output index: Int, part name: String?) throws -> any ByteStore {
        LinkStore(link: link, reporter: reporter)
    }
}
