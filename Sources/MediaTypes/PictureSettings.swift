/// How a picture of the audio, or the peaks for a player's waveform, are made.
package struct PictureSettings: Codable, Hashable, Sendable {
    /// The file format of peaks.
    package var form = PeaksForm.json
    /// Bits of a peak value: 8 or 16.
    package var bits = 16
    /// The audio length of one point of the peaks.
    package var zoom = Zoom.samples(256)
    /// Whether each channel has a separate lane; `nil` for the format's default.
    package var splitsChannels: Bool?
    /// The size of a picture; `nil` for the format's default.
    package var size: PictureSize?
    /// The color of the waveform.
    package var foreground = PictureColor(red: 0x33, green: 0x66, blue: 0xCC)
    /// The color behind the waveform, white by default.
    package var background = PictureColor(red: 0xFF, green: 0xFF, blue: 0xFF)
    /// The range below full scale that a spectrogram shows, in dB.
    package var dynamicRange = 100.0

    package init() {}

    /// audiowaveform's file formats, both of version 2.
    package enum PeaksForm: String, Codable, Sendable, CaseIterable {
        case json, dat
    }

    /// The audio length of one point of the peaks.
    package enum Zoom: Codable, Hashable, Sendable {
        case samples(Int)
        /// Points a second. Each point is a whole number of samples.
        case perSecond(Int)
        /// At most that many points for the whole audio.
        case points(Int)
    }

    /// The supported values of `zoom` in samples.
    package static let samplesPerPixel = 1...1_000_000_000
    /// The supported values of `pixels_per_second`.
    package static let pixelsPerSecond = 1...768_000
    /// The supported values of `points`.
    package static let points = 1...4000
    /// The supported values of `dynamic_range` in dB.
    package static let dynamicRanges = 10.0...200.0
}

/// The size of a picture in pixels.
package struct PictureSize: Codable, Hashable, Sendable {
    /// Pixels along the time axis.
    package var width: Int
    /// Pixels along the axis of the level or the frequency, for all channels.
    package var height: Int

    package init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// Parses `1800x280`.
    package init?(parsing text: String) {
        let parts = text.split(separator: "x", omittingEmptySubsequences: false)
        guard parts.count == 2, text.utf8.allSatisfy({ $0 == 0x78 || (0x30...0x39).contains($0) }),
            let width = Int(parts[0]), let height = Int(parts[1])
        else { return nil }
        self.init(width: width, height: height)
    }

    /// Whether a picture of this size has no pixel.
    package var isEmpty: Bool { width < 1 || height < 1 }

    /// Whether neither the width nor the height exceeds the other's.
    package func fits(in other: PictureSize) -> Bool { width <= other.width && height <= other.height }
}

extension PictureSize: CustomStringConvertible {
    package var description: String { "\(width)x\(height)" }
}

/// A color with its opacity, each component from 0 to 255.
package struct PictureColor: Codable, Hashable, Sendable {
    /// The part `rr` of `#rrggbb`.
    package var red: UInt8
    /// The part `gg` of `#rrggbb`.
    package var green: UInt8
    /// The part `bb` of `#rrggbb`.
    package var blue: UInt8
    /// The opacity; 255 is opaque.
    package var alpha: UInt8

    package init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
        (self.red, self.green, self.blue, self.alpha) = (red, green, blue, alpha)
    }

    /// Parses `#rrggbb` or `#rrggbbaa`.
    package init?(parsing text: String) {
        let digits = Array(text.utf8.dropFirst())
        guard text.hasPrefix("#"), digits.count == 6 || digits.count == 8 else { return nil }
        var parts: [UInt8] = []
        for start in stride(from: 0, to: digits.count, by: 2) {
            let pair = String(decoding: digits[start..<start + 2], as: UTF8.self)
            guard pair.utf8.first != 0x2B, let part = UInt8(pair, radix: 16) else { return nil }
            parts.append(part)
        }
        self.init(red: parts[0], green: parts[1], blue: parts[2], alpha: parts.count == 4 ? parts[3] : 255)
    }
}

extension PictureColor: CustomStringConvertible {
    package var description: String {
        "#"
            + (alpha == 255 ? [red, green, blue] : [red, green, blue, alpha]).map {
                ($0 < 16 ? "0" : "") + String($0, radix: 16)
            }.joined()
    }
}

extension AudioFormat {
    /// The default and the maximum size of a picture; `nil` if the format has no size.
    package var pictureSizes: (usual: PictureSize, largest: PictureSize)? {
        switch picture {
        case .waveform: (PictureSize(width: 1800, height: 280), PictureSize(width: 10_000, height: 4000))
        case .spectrogram: (PictureSize(width: 1024, height: 512), PictureSize(width: 4000, height: 2000))
        case .peaks, .none: nil
        }
    }
}

extension Rendition {
    /// Validates the picture settings.
    func checkPicture(_ format: AudioFormat, _: AudioCodec) throws(FormatProblem) {
        guard format.isPicture else { return }
        guard passthrough != .require else {
            throw FormatProblem(
                "passthrough",
                "passthrough is require, and \(format.name) is drawn from decoded audio; use auto or never"
            )
        }
        guard [8, 16].contains(picture.bits) else {
            throw FormatProblem("bits", "bits is \(picture.bits); it must be 8 or 16")
        }
        switch picture.zoom {
        case .samples(let count) where !PictureSettings.samplesPerPixel.contains(count):
            throw FormatProblem("zoom", "zoom is \(count); it must be 1 to 1000000000 samples")
        case .perSecond(let count) where !PictureSettings.pixelsPerSecond.contains(count):
            throw FormatProblem("pixels_per_second", "pixels_per_second is \(count); it must be 1 to 768000")
        case .points(let count) where !PictureSettings.points.contains(count):
            throw FormatProblem("points", "points is \(count); it must be 1 to 4000")
        default: break
        }
        if let size = picture.size, let sizes = format.pictureSizes,
            size.isEmpty || !size.fits(in: sizes.largest)
        {
            throw FormatProblem("size", "size is \(size); for \(format.name) it must be 1x1 to \(sizes.largest)")
        }
        guard PictureSettings.dynamicRanges.contains(picture.dynamicRange) else {
            throw FormatProblem(
                "dynamic_range", "dynamic_range is \(picture.dynamicRange); it must be 10 to 200 dB")
        }
    }
}
