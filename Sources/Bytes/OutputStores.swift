/// Opens the output files of a conversion. Each output calls it on its own thread.
package protocol OutputStores: AnyObject {
    /// Opens a new empty file of an output: its main file, or a part beside it.
    ///
    /// A part's name is a suffix of the main file's stem: `.chapters.json` beside `talk.mp3` becomes `talk.chapters.json`.
    /// `{token}` in it is replaced by letters that are unique to this attempt of the job, so that files that the main file
    /// refers to, such as the segments of a playlist, never mix with those of another attempt.
    func open(output index: Int, part name: String?) throws -> any RandomAccessOutput

    /// The final name of an open part, relative to the main file's folder. The main file refers to the part by it.
    func placeName(output index: Int, part name: String) throws -> String

    /// Declares a part complete: it is not accessed any more, and its resources can be released.
    ///
    /// The caller of the conversion finishes the main file, after all parts. That completes the output.
    func finish(output index: Int, part name: String) throws
}

extension OutputStores {
    package func placeName(output index: Int, part name: String) throws -> String { name }

    package func finish(output index: Int, part name: String) throws {}
}
