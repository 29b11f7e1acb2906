/// A programme that ffmpeg makes: chords, and at the start of each minute as many pips as minutes have passed, so that any cut
/// can be heard.
///
/// No small package of Debian has long recordings of full bandwidth: `asterisk-moh-opsound-wav` (14 MB) has 5 min at 8 kHz,
/// `asc-music` (10 MB) 7 min at 22 kHz, `singularity-music` (52 MB) 6 min at 48 kHz.
enum DemoAudio {
    /// Four chords of 4 s that decay, again and again.
    private static let chords =
        "aevalsrc='st(0,if(lt(t,4),130.81,if(lt(t,8),110,if(lt(t,12),87.31,98))));"
        + "0.12*exp(-mod(t,4))*(sin(2*PI*ld(0)*t)+sin(3*PI*ld(0)*t)+sin(4*PI*ld(0)*t))':s=44100:d=16,aloop=-1:705600"
    /// Four pips a second. The volume is evaluated every 10 ms.
    private static let pips =
        "sine=1000:r=44100,asetnsamples=441,volume='2*lt(mod(t,60),0.25*floor(t/60))*lt(mod(t,0.25),0.1)':eval=frame"

    /// The command that writes the programme as 16-bit stereo WAV at 44.1 kHz.
    static func command(minutes: Int, path: String) -> [String] {
        ["ffmpeg", "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i", chords, "-f", "lavfi", "-i", pips]
            + ["-filter_complex", "amix=normalize=0", "-t", "\(minutes * 60)", "-ac", "2", path]
    }
}
