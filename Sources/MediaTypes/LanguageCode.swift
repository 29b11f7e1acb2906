/// Compares language codes. A language can have several: `de` (ISO 639-1), `deu` and `ger` (both ISO 639-2).
package enum LanguageCode {
    /// The index of the first language that matches. The same code takes precedence over another code of the language.
    package static func firstIndex(of asked: String, in languages: [String?]) -> Int? {
        languages.firstIndex { $0?.lowercased() == asked.lowercased() }
            ?? languages.firstIndex { $0.map { isSame($0, asked) } ?? false }
    }

    /// Whether a track's language matches. The region is compared only if both have one.
    static func isSame(_ language: String, _ asked: String) -> Bool {
        let (own, wish) = (parts(language), parts(asked))
        guard let code = own.first, code == wish.first else { return false }
        return own.count == 1 || wish.count == 1 || own == wish
    }

    /// The shortest code of the language, followed by its subtags, such as `AT` in `de-AT`.
    private static func parts(_ tag: String) -> [String] {
        var parts = tag.lowercased().split { "-_ ".contains($0) }.map(String.init)
        if let code = parts.first, let short = shortest[code] { parts[0] = short }
        return parts
    }

    private static let shortest: [String: String] = {
        var shortest: [String: String] = [:]
        for codes in table.split(separator: " ").map({ $0.split(separator: ":") }) {
            for code in codes.dropFirst() { shortest[String(code)] = String(codes[0]) }
        }
        return shortest
    }()

    /// The ISO 639-1 languages with their ISO 639-2 codes. Two additional codes are those that libav uses for QuickTime's
    /// numbers.
    static let table = """
        aa:aar ab:abk ae:ave af:afr ak:aka am:amh an:arg ar:ara as:asm av:ava ay:aym az:aze ba:bak be:bel bg:bul \
        bh:bih bi:bis bm:bam bn:ben bo:bod:tib br:bre bs:bos ca:cat ce:che ch:cha co:cos cr:cre cs:ces:cze cu:chu \
        cv:chv cy:cym:wel da:dan de:deu:ger dv:div dz:dzo ee:ewe el:ell:gre en:eng eo:epo es:spa et:est eu:eus:baq \
        fa:fas:per ff:ful fi:fin fj:fij fo:fao fr:fra:fre fy:fry ga:gle:iri gd:gla gl:glg gn:grn gu:guj gv:glv \
        ha:hau he:heb hi:hin ho:hmo hr:hrv ht:hat hu:hun hy:hye:arm hz:her ia:ina id:ind ie:ile ig:ibo ii:iii ik:ipk \
        io:ido is:isl:ice it:ita iu:iku ja:jpn jv:jav ka:kat:geo kg:kon ki:kik kj:kua kk:kaz kl:kal km:khm kn:kan \
        ko:kor kr:kau ks:kas ku:kur kv:kom kw:cor ky:kir la:lat lb:ltz lg:lug li:lim ln:lin lo:lao lt:lit lu:lub \
        lv:lav mg:mlg mh:mah mi:mri:mao mk:mkd:mac ml:mal mn:mon mr:mar ms:msa:may mt:mlt my:mya:bur na:nau nb:nob \
        nd:nde ne:nep ng:ndo nl:nld:dut nn:nno no:nor nr:nbl nv:nav ny:nya oc:oci oj:oji om:orm or:ori os:oss pa:pan \
        pi:pli pl:pol ps:pus pt:por qu:que rm:roh rn:run ro:ron:rum ru:rus rw:kin sa:san sc:srd sd:snd se:sme sg:sag \
        si:sin sk:slk:slo sl:slv sm:smo sn:sna so:som sq:sqi:alb sr:srp ss:ssw st:sot su:sun sv:swe:sve sw:swa \
        ta:tam te:tel tg:tgk th:tha ti:tir tk:tuk tl:tgl tn:tsn to:ton tr:tur ts:tso tt:tat tw:twi ty:tah ug:uig \
        uk:ukr ur:urd uz:uzb ve:ven vi:vie vo:vol wa:wln wo:wol xh:xho yi:yid yo:yor za:zha zh:zho:chi zu:zul
        """
}
