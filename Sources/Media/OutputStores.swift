/// Where the files of a conversion's outputs are written, on the threads that encode them.
package protocol OutputStores: AnyObject {
    /// A new empty file of an output: its main one, or another beside it under a relative name.
    func open(output index: Int, part name: String?) throws -> any ByteStore
}
