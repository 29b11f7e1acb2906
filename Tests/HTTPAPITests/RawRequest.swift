/// A request with the headers of any client, which closes the connection.
func rawRequest(_ line: String, _ headers: String..., body: String = "") -> String {
    let length = body.isEmpty ? [] : ["Content-Length: \(body.utf8.count)"]
    return ([line, "Host: localhost", "Connection: close"] + length + headers + ["", ""]).joined(separator: "\r\n")
        + body
}
