import CCurl

/// The sole owner of a libcurl easy handle, and of the header lines and the error text that the handle refers to.
struct CurlHandle: ~Copyable {
    let pointer: UnsafeMutableRawPointer
    private var lines: UnsafeMutablePointer<curl_slist>?
    private var aliases: UnsafeMutablePointer<curl_slist>?
    private var commands: UnsafeMutablePointer<curl_slist>?
    private let errorText: UnsafeMutablePointer<CChar>

    private init(owning pointer: UnsafeMutableRawPointer) {
        self.pointer = pointer
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        _ = curl_swift_set_pointer(pointer, CURLOPT_ERRORBUFFER, errorText)
    }

    deinit {
        curl_easy_cleanup(pointer)
        curl_slist_free_all(lines)
        curl_slist_free_all(aliases)
        curl_slist_free_all(commands)
        errorText.deallocate()
    }

    /// A new handle; `nil` if memory is short. The corresponding C function is `curl_easy_init`.
    static func create() -> CurlHandle? {
        curl_easy_init().map { CurlHandle(owning: $0) }
    }

    func set(_ option: CURLoption, _ value: Int) { _ = curl_swift_set_long(pointer, option, value) }
    func setOffset(_ option: CURLoption, _ value: Int64) {
        _ = curl_swift_set_offset(pointer, option, curl_off_t(value))
    }
    func set(_ option: CURLoption, _ value: String) { _ = curl_swift_set_string(pointer, option, value) }
    func set(_ option: CURLoption, _ value: UnsafeMutableRawPointer) {
        _ = curl_swift_set_pointer(pointer, option, value)
    }
    func set(_ option: CURLoption, _ function: @escaping curl_write_callback) {
        _ = curl_swift_set_write(pointer, option, function)
    }

    /// Disables proxies, regardless of the environment.
    func setNoProxy() {
        set(CURLOPT_PROXY, "")
        set(CURLOPT_NOPROXY, "*")
    }

    /// Sends these header lines with the request.
    mutating func setHeader(_ texts: [String]) {
        for text in texts { lines = curl_slist_append(lines, text) }
        _ = curl_swift_set_list(pointer, CURLOPT_HTTPHEADER, lines)
    }

    /// Sends these commands to an FTP or SFTP server after the whole body.
    mutating func setLastCommands(_ texts: [String]) {
        for text in texts { commands = curl_slist_append(commands, text) }
        _ = curl_swift_set_list(pointer, CURLOPT_POSTQUOTE, commands)
    }

    /// Sends these bytes with a POST.
    func post(_ bytes: [UInt8]) {
        set(CURLOPT_POSTFIELDSIZE, bytes.count)
        var bytes = bytes
        _ = bytes.withUnsafeMutableBytes { curl_swift_set_pointer(pointer, CURLOPT_COPYPOSTFIELDS, $0.baseAddress) }
    }

    /// Accepts this status line as `HTTP/1.0 200 OK`.
    mutating func acceptStatusLine(_ text: String) {
        aliases = curl_slist_append(aliases, text)
        _ = curl_swift_set_list(pointer, CURLOPT_HTTP200ALIASES, aliases)
    }

    /// The URL of the last request, after redirects.
    var effectiveURL: String {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_swift_get_string(pointer, CURLINFO_EFFECTIVE_URL, &text) == CURLE_OK, let text else { return "" }
        return String(cString: text)
    }

    /// Length of the response body in bytes, if known.
    var contentLength: Int64? { offset(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T) }

    /// Modification time of the file in seconds since 1970, if known.
    var fileTime: Int64? { offset(CURLINFO_FILETIME_T) }

    private borrowing func offset(_ info: CURLINFO) -> Int64? {
        var value: curl_off_t = -1
        _ = curl_swift_get_offset(pointer, info, &value)
        return value < 0 ? nil : Int64(value)
    }

    /// The server's last status or reply code; 0 if there is none.
    var responseCode: Int {
        var code = 0
        _ = curl_swift_get_long(pointer, CURLINFO_RESPONSE_CODE, &code)
        return code
    }

    /// The status of the proxy's reply to `CONNECT`; 0 if there is none.
    var connectStatus: Int {
        var status = 0
        _ = curl_swift_get_long(pointer, CURLINFO_HTTP_CONNECTCODE, &status)
        return status
    }

    /// libcurl's error text, which may contain a URL.
    var errorDescription: String { String(cString: errorText) }
}
