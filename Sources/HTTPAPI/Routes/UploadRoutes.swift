import FoundationEssentials
import HTTPServer
import JobSchema
import Jobs
import Lifecycle

extension Route {
    /// The routes of uploads, which follow tus 1.0.0 (https://tus.io/protocols/resumable-upload).
    static let uploads: [Route] = [
        Route(
            method: "POST", path: "/v1/uploads", name: "createUpload",
            summary: "Creates an upload by tus, or takes a whole file as the body.", role: .push,
            query: [Parameter("filename", .text(255), "the name of a file that is sent as a whole")],
            bodyTypes: [plainType], receiver: createReceiver, responses: [(201, "the upload", upload)]
        ) { _ throws(Problem) in throw Problem.uploadsOff },
        Route(
            method: "OPTIONS", path: "/v1/uploads", name: "getUploadOptions", summary: "What the server knows of tus.",
            role: .read, responses: [(204, "in the headers", Schema.any)]
        ) { request in
            guard let folder = request.context.uploads else { throw Problem.uploadsOff }
            var reply = Reply(status: 204, contentType: "", body: [])
            reply.headers = [
                ("Tus-Resumable", version), ("Tus-Version", version), ("Tus-Max-Size", "\(folder.maxBytes)"),
                ("Tus-Extension", "creation,creation-with-upload,termination,expiration"),
            ]
            return reply
        },
        Route(
            method: "GET", path: "/v1/uploads/{upload}", name: "getUpload",
            summary: "An upload; HEAD says how many bytes have arrived.", role: .push, pathParameters: [uploadID],
            responses: [(200, "the upload", upload)]
        ) { request in
            guard let folder = request.context.uploads else { throw Problem.uploadsOff }
            try checkVersion(request)
            let (id, owner) = (request.values["upload"] ?? "", request.token.name)
            let upload = try await withBlocking { () throws(Problem) in try folder.find(id, owner: owner) }
            var reply = Reply(UploadReport(upload))
            reply.headers = uploadHeaders(upload)
            if let length = upload.record.length { reply.headers.append(("Upload-Length", "\(length)")) }
            return reply
        },
        Route(
            method: "PATCH", path: "/v1/uploads/{upload}", name: "appendToUpload",
            summary: "Appends the body to an upload, by tus.", role: .push, pathParameters: [uploadID],
            headers: [
                Parameter("Upload-Offset", .whole(0...(1 << 50)), "how many bytes the upload has")
            ], bodyTypes: [appendType, plainType], receiver: appendReceiver,
            responses: [(204, "the bytes are stored", Schema.any)]
        ) { _ throws(Problem) in throw Problem.uploadsOff },
        Route(
            method: "DELETE", path: "/v1/uploads/{upload}", name: "deleteUpload", summary: "Deletes an upload.",
            role: .push, pathParameters: [uploadID], responses: [(204, "it is deleted", Schema.any)]
        ) { request in
            guard let folder = request.context.uploads else { throw Problem.uploadsOff }
            try checkVersion(request)
            let (id, owner) = (request.values["upload"] ?? "", request.token.name)
            try await withBlocking { () throws(Problem) in try folder.remove(id, owner: owner) }
            var reply = Reply(status: 204, contentType: "", body: [])
            reply.headers = [("Tus-Resumable", version)]
            reply.subjects = [id]
            return reply
        },
    ]

    private static let version = "1.0.0"
    private static let appendType = "application/offset+octet-stream"
    private static let plainType = "application/octet-stream"
    private static let uploadID = Parameter("upload", .upload, "the id of the upload")

    private static let upload = Schema.named("Upload")

    /// The headers of tus about an upload.
    static func uploadHeaders(_ upload: Upload) -> [(name: String, value: String)] {
        [
            ("Tus-Resumable", version), ("Upload-Offset", "\(upload.offset)"),
            ("Upload-Expires", HTTPDate.text(seconds: upload.expires / 1000)), ("Cache-Control", "no-store"),
        ]
    }

    private static func createReceiver(
        _ folder: UploadFolder, _ request: APIRequest
    ) throws(Problem) -> any BodyReceiver {
        let http = request.http
        let type = (http.header("content-type") ?? "").prefix { $0 != ";" }.lowercased()
        let bodyBytes = http.header("content-length").flatMap { Int64($0) }
        guard !http.values("tus-resumable").isEmpty else {
            guard !type.hasPrefix("multipart/") else {
                throw Problem(415, "unsupported_media_type", "send the bytes of the file alone, not a form")
            }
            let purpose = UploadReceiver.Purpose.whole(filename: request.values["filename"])
            return UploadReceiver(folder, request, purpose)
        }
        try checkVersion(request)
        guard http.values("upload-defer-length").isEmpty else {
            throw Problem(400, "invalid_header", "upload-defer-length is not supported: send upload-length")
        }
        let hasBody = http.header("transfer-encoding") != nil || bodyBytes ?? 0 > 0
        guard !hasBody || type == appendType else {
            throw Problem(415, "unsupported_media_type", "the content type must be \(appendType)")
        }
        let length = try number(http, "upload-length")
        let name = try filename(http) ?? request.values["filename"]
        return UploadReceiver(folder, request, .create(filename: name, length: length))
    }

    private static func appendReceiver(
        _ folder: UploadFolder, _ request: APIRequest
    ) throws(Problem) -> any BodyReceiver {
        try checkVersion(request)
        // tus knows the first type alone; some clients only know the other.
        guard [appendType, plainType].contains(request.http.header("content-type")?.lowercased()) else {
            throw Problem(415, "unsupported_media_type", "the content type must be \(appendType)")
        }
        let purpose = UploadReceiver.Purpose.append(
            id: request.values["upload"] ?? "", offset: try number(request.http, "upload-offset"))
        return UploadReceiver(folder, request, purpose)
    }

    /// Refuses another version of tus than this one.
    private static func checkVersion(_ request: APIRequest) throws(Problem) {
        let given = request.http.values("tus-resumable")
        guard given.allSatisfy({ $0 == version }) else {
            var problem = Problem(412, "wrong_version", "tus-resumable must be \(version)")
            problem.headers = [("Tus-Version", version)]
            throw problem
        }
    }

    private static func number(_ http: HTTPRequest, _ name: String) throws(Problem) -> Int64 {
        guard let text = http.header(name), (1...18).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text)
        else { throw Problem(400, "invalid_header", "\(name) must be given once, as a whole number of bytes") }
        return number
    }

    /// The name among the pairs of a key and a value in Base64 of the header Upload-Metadata.
    private static func filename(_ http: HTTPRequest) throws(Problem) -> String? {
        for pair in (http.header("upload-metadata") ?? "").split(separator: ",") {
            let words = pair.split(separator: " ")
            guard words.first == "filename" else { continue }
            guard words.count == 2, let data = Data(base64Encoded: String(words[1])),
                let name = String(validating: data, as: UTF8.self), (1...255).contains(name.unicodeScalars.count)
            else {
                throw Problem(
                    400, "invalid_header", "filename in upload-metadata must be Base64 of 1 to 255 characters")
            }
            return name
        }
        return nil
    }
}
