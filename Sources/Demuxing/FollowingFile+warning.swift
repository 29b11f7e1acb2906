package import Bytes
package import Containers
package import MediaTypes

extension FollowingFile {
    /// A warning about joined files, of which the first one is read; `nil` if there is one file.
    package static func warning(
        _ source: any ByteSource, _ descriptor: ContainerDescriptor
    ) throws(MediaError) -> Warning? {
        let place: Int64?
        do { place = try offset(source, descriptor) } catch { throw .unreadable(error, "read the source") }
        return place.map {
            Warning(.fileFollows, "another file follows the source's first one at byte \($0); it is not converted")
        }
    }
}
