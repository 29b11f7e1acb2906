import Transcode

@main struct Program {
    static func main() { TranscodeProcess.main() }
}
