import Foundation
import Testing

@testable import MediaTypes

@Suite struct LanguageCodeTests {
    private struct List: Decodable {
        let languages: [Language]

        struct Language: Decodable {
            let alpha_2: String?
            let alpha_3: String
            let bibliographic: String?
        }

        enum CodingKeys: String, CodingKey {
            case languages = "639-2"
        }
    }

    @Test func `every code of a language with several codes is known`() throws {
        let data = try Data(contentsOf: URL(filePath: "/usr/share/iso-codes/json/iso_639-2.json"))
        let languages = try JSONDecoder().decode(List.self, from: data).languages.filter { $0.alpha_2 != nil }
        #expect(languages.count > 180)
        for language in languages {
            let codes = [language.alpha_2, language.alpha_3, language.bibliographic].compactMap { $0 }
            for code in codes {
                #expect(codes.allSatisfy { LanguageCode.isSame($0, code.uppercased()) }, "\(codes)")
                #expect(languages.count { LanguageCode.isSame($0.alpha_3, code) } == 1, "\(code)")
            }
        }
    }

    @Test(
        arguments: [
            ("ger", ["eng", nil, "deu"], 2), ("de", ["ge", "de-AT"], 1), ("de-at", ["ger", "de-AT"], 1),
            ("de-AT", ["de-CH", "deu"], 1), ("en-GB", ["en-US"], nil), ("sv", ["sve"], 0), ("hr", ["hr "], 0),
            ("und", ["eng", "und"], 1), ("ge", ["ger"], nil), ("cmn", ["zho", "cmn"], 1),
        ] as [(String, [String?], Int?)])
    func `a track is found by any code of its language`(asked: String, languages: [String?], place: Int?) {
        #expect(LanguageCode.firstIndex(of: asked, in: languages) == place)
    }
}
