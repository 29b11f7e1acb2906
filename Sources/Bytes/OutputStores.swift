/// Where the files of a conversion's outputs are written; each output has a thread of its own, which asks.
package protocol OutputStores: AnyObject {
    /// A new empty file of an output: its main one, or another beside it.
    ///
    /// A part's name is what follows the stem of the main file's: `.chapters.json` beside `talk.mp3` will be
    /// `talk.chapters.json`. `{token}` in it stands for letters that no other run of the job has, so that files which the
    /// main one names, such as the segments of a playlist, never mix with those of another run.
    func open(output index: Int, part name: String?) throws -> any RandomAccessOutput

    /// The name that an open part will have, relative to the main file's folder: what the main file calls it.
    func placeName(output index: Int, part name: String) throws -> String

    /// A file is complete: it is not touched any more, and nothing is held open for it.
    ///
    /// The main file is finished by whoever runs the conversion, after all parts: it makes the output complete.
    func finish(output index: Int, part name: String) throws
}

extension OutputStores {
    package func placeName(output index: Int, part name: String) throws -> String { name }

    package func finish(output index: Int, part name: String) throws {}
}
