"""Writes and reads tags with mutagen, which shares no code with respool.

`tagging.py tag JPEG PNG FILE…` writes all tags that the files' formats support; `tagging.py read FILE…` prints the tags
as JSON, under names that do not depend on the container.
"""

import base64
import hashlib
import io
import json
import struct
import subprocess
import sys

import mutagen.id3
from mutagen import File, MutagenError
from mutagen.apev2 import APEv2, APEBinaryValue
from mutagen.asf import ASFByteArrayAttribute
from mutagen.flac import Picture
from mutagen.id3 import APIC, CHAP, COMM, PRIV, SYLT, TIT2, TXXX, UFID, USLT
from mutagen.mp4 import MP4Cover, MP4FreeForm

ALL = {
    'title': ['Заголовок 題名 🎵'], 'artist': ['Björk', 'Кино', '坂本龍一'], 'album': ['Álbum'],
    'albumartist': ['Разные'], 'composer': ['作曲家'], 'tracknumber': ['3/12'], 'discnumber': ['1/2'],
    'date': ['2024-05-06'], 'genre': ['Ambient', 'Электроника'], 'comment': ['Ein Kommentar ✓'],
    'copyright': ['© 2024'], 'isrc': ['USRC17607839'], 'bpm': ['120'], 'lyrics': ['eins\nдва\n三'],
    'compilation': ['1'], 'artistsort': ['Bjork'], 'label': ['Label & Co'],
    'musicbrainz_trackid': ['f9f9c7a0-0000-4000-8000-000000000001'],
    'acoustid_id': ['f9f9c7a0-0000-4000-8000-000000000002'], 'replaygain_track_gain': ['-6.50 dB'],
    'my own': ['häй 🙂'],
}
CHAPTERS = [(0, 200, 'Eins'), (200, 500, 'Глава 二 🎵')]
ID3 = {
    'title': 'TIT2', 'artist': 'TPE1', 'album': 'TALB', 'albumartist': 'TPE2', 'composer': 'TCOM',
    'tracknumber': 'TRCK', 'discnumber': 'TPOS', 'date': 'TDRC', 'genre': 'TCON', 'copyright': 'TCOP',
    'isrc': 'TSRC', 'bpm': 'TBPM', 'compilation': 'TCMP', 'artistsort': 'TSOP', 'label': 'TPUB',
}
ATOMS = {
    'title': '©nam', 'artist': '©ART', 'album': '©alb', 'albumartist': 'aART', 'composer': '©wrt',
    'date': '©day', 'genre': '©gen', 'comment': '©cmt', 'copyright': 'cprt', 'lyrics': '©lyr',
    'artistsort': 'soar',
}
FREE = '----:com.apple.iTunes:'
FREEFORM = {
    'isrc': 'ISRC', 'label': 'LABEL', 'musicbrainz_trackid': 'MusicBrainz Track Id',
    'acoustid_id': 'Acoustid Id', 'replaygain_track_gain': 'replaygain_track_gain', 'my own': 'my own',
}
APE = {'tracknumber': 'Track', 'discnumber': 'Disc', 'date': 'Year', 'albumartist': 'Album Artist'}
WMA = {
    'title': 'Title', 'artist': 'Author', 'album': 'WM/AlbumTitle', 'albumartist': 'WM/AlbumArtist',
    'composer': 'WM/Composer', 'tracknumber': 'WM/TrackNumber', 'discnumber': 'WM/PartOfSet',
    'date': 'WM/Year', 'genre': 'WM/Genre', 'comment': 'Description', 'copyright': 'Copyright',
    'isrc': 'WM/ISRC', 'bpm': 'WM/BeatsPerMinute', 'lyrics': 'WM/Lyrics', 'artistsort': 'WM/ArtistSortOrder',
    'label': 'WM/Publisher', 'musicbrainz_trackid': 'MusicBrainz/Track Id', 'acoustid_id': 'Acoustid/Id',
    'compilation': 'WM/IsCompilation',
}


def clock(ms):
    return '%02d:%02d:%02d.%03d' % (ms // 3600000, ms // 60000 % 60, ms // 1000 % 60, ms % 1000)


def picture(kind, mime, description, data):
    result = Picture()
    result.type, result.mime, result.desc, result.data = kind, mime, description, data
    return result


def write_id3(tags, pictures):
    for name, frame in ID3.items():
        tags.add(getattr(mutagen.id3, frame)(encoding=3, text=ALL[name]))
    tags.add(COMM(encoding=3, lang='eng', desc='', text=ALL['comment']))
    tags.add(USLT(encoding=3, lang='eng', desc='', text=ALL['lyrics'][0]))
    tags.add(UFID(owner='http://musicbrainz.org', data=ALL['musicbrainz_trackid'][0].encode()))
    for name, spelled in (('acoustid_id', 'Acoustid Id'), ('replaygain_track_gain', 'REPLAYGAIN_TRACK_GAIN'),
                          ('my own', 'my own')):
        tags.add(TXXX(encoding=3, desc=spelled, text=ALL[name]))
    for kind, mime, description, data in pictures:
        tags.add(APIC(encoding=3, mime=mime, type=kind, desc=description, data=data))
    for index, (start, end, title) in enumerate(CHAPTERS):
        tags.add(CHAP(element_id='c%d' % index, start_time=start, end_time=end, start_offset=0xFFFFFFFF,
                      end_offset=0xFFFFFFFF, sub_frames=[TIT2(encoding=3, text=[title])]))
    tags.add(SYLT(encoding=3, lang='eng', format=2, type=1, desc='', text=[('ein', 100), ('zwei', 300)]))
    tags.add(PRIV(owner='org.example', data=b'\x00\x01\xff'))


def write_vorbis(tags, pictures):
    for name, values in ALL.items():
        if name in ('tracknumber', 'discnumber'):
            tags[name], tags[name[:5].rstrip('n') + 'total'] = values[0].split('/')
        else:
            tags[name] = values
    for index, (start, end, title) in enumerate(CHAPTERS):
        tags['CHAPTER%03d' % (index + 1)] = clock(start)
        tags['CHAPTER%03dNAME' % (index + 1)] = title


def tag(path, pictures):
    file = File(path)
    name = type(file).__name__
    if file.tags is None:
        file.add_tags()
    if name in ('MP3', 'WAVE', 'AIFF', 'TrueAudio'):
        write_id3(file.tags, pictures)
    elif name == 'MP4':
        for key, atom in ATOMS.items():
            file.tags[atom] = ALL[key]
        file.tags['trkn'], file.tags['disk'] = [(3, 12)], [(1, 2)]
        file.tags['tmpo'], file.tags['cpil'] = [120], True
        for key, spelled in FREEFORM.items():
            file.tags[FREE + spelled] = [MP4FreeForm(value.encode()) for value in ALL[key]]
        file.tags['covr'] = [
            MP4Cover(data, MP4Cover.FORMAT_PNG if mime == 'image/png' else MP4Cover.FORMAT_JPEG)
            for _, mime, _, data in pictures]
    elif name == 'FLAC':
        write_vorbis(file.tags, pictures)
        for each in pictures:
            file.add_picture(picture(*each))
    elif name.startswith('Ogg'):
        write_vorbis(file.tags, pictures)
        file.tags['metadata_block_picture'] = [
            base64.b64encode(picture(*each).write()).decode() for each in pictures]
    elif name == 'WavPack':
        for key, values in ALL.items():
            file.tags[APE.get(key, key)] = values
        for (kind, mime, description, data), item in zip(pictures, ('Front', 'Back')):
            file.tags['Cover Art (%s)' % item] = APEBinaryValue(description.encode() + b'\0' + data)
    elif name == 'ASF':
        for key, values in ALL.items():
            file.tags[WMA.get(key, key)] = values
        file.tags['WM/Picture'] = [
            ASFByteArrayAttribute(
                struct.pack('<bi', kind, len(data)) + (mime + '\0').encode('utf-16-le')
                + (description + '\0').encode('utf-16-le') + data)
            for kind, mime, description, data in pictures]
    else:
        raise SystemExit('cannot tag ' + path)
    file.save()


def digest(data):
    return hashlib.sha256(bytes(data)).hexdigest()[:16]


def told(kind, mime, description, data):
    return {'kind': kind, 'mime': mime, 'description': description, 'digest': digest(data)}


# ffprobe's names of some tags.
PROBED = {'album_artist': 'albumartist', 'track': 'tracknumber', 'disc': 'discnumber', 'my_own': 'my own'}


def probe(path):
    """The tags that ffprobe reads from a file that mutagen does not support; one value per name."""
    command = ['ffprobe', '-v', 'error', '-show_format', '-show_streams', '-show_chapters', '-of', 'json', path]
    file = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    streams = file.get('streams', [])
    # In Ogg, the tags belong to the stream. The title of a picture is its description.
    parts = [stream for stream in streams if stream.get('codec_type') == 'audio'] + [file['format']]
    texts = {name.lower(): [value] for part in parts for name, value in part.get('tags', {}).items()}
    pictures = [stream for stream in streams if stream.get('disposition', {}).get('attached_pic')]
    return {'texts': {PROBED.get(name, name): values for name, values in texts.items()},
            'pictures': [told(-1, '', '', b'') for _ in pictures],
            'chapters': [{'start': round(float(each['start_time']) * 1000), 'title': each.get('tags', {}).get('title', '')}
                         for each in file.get('chapters', [])], 'lines': []}


def opened(path):
    """The file and its tags, as mutagen reads them; for unsupported files, only ID3v2."""
    with open(path, 'rb') as file:
        content = file.read()
    if content.startswith(b'RF64'):
        return None, mutagen.id3.ID3(io.BytesIO(content[content.index(b'id3 ') + 8:]))
    try:
        file = File(path)
        return file, None if file is None else file.tags
    except MutagenError:
        return None, mutagen.id3.ID3(path)


def read(path):
    file, tags = opened(path)
    if file is None and tags is None:
        return probe(path)
    result = {'texts': {}, 'pictures': [], 'chapters': [], 'lines': []}
    texts, pictures, chapters = result['texts'], result['pictures'], result['chapters']
    name = type(file).__name__
    if tags is None and path.endswith('.tta'):
        # mutagen reads only ID3 from TTA, which may also contain APEv2.
        tags = APEv2(path)
    if tags is None:
        return result
    if name in ('MP3', 'WAVE', 'AIFF') or hasattr(tags, 'getall'):
        for key, frame in ID3.items():
            for found in tags.getall(frame):
                texts[key] = [str(text) for text in found.text]
        texts['comment'] = [text for found in tags.getall('COMM') if not found.desc for text in found.text]
        texts['lyrics'] = [found.text for found in tags.getall('USLT')]
        texts['musicbrainz_trackid'] = [
            found.data.decode() for found in tags.getall('UFID') if 'musicbrainz' in found.owner]
        for found in tags.getall('TXXX'):
            texts[found.desc.lower().replace('acoustid id', 'acoustid_id')] = list(found.text)
        pictures += [told(int(f.type), f.mime, f.desc, f.data) for f in tags.getall('APIC')]
        chapters += [
            {'start': f.start_time, 'title': str(f.sub_frames['TIT2'])} for f in tags.getall('CHAP')]
        result['lines'] = ['%d %s' % (time, text) for f in tags.getall('SYLT') for text, time in f.text]
        texts['priv'] = [f.data.hex() for f in tags.getall('PRIV')]
    elif name == 'MP4':
        for key, atom in ATOMS.items():
            texts[key] = tags.get(atom, [])
        for key, spelled in FREEFORM.items():
            for atom in tags:
                if atom.lower() == (FREE + spelled).lower().replace('acoustid id', 'acoustid_id') or \
                   atom.lower() == (FREE + spelled).lower():
                    texts[key] = [value.decode() for value in tags[atom]]
        for key, atom in (('tracknumber', 'trkn'), ('discnumber', 'disk')):
            texts[key] = ['%d/%d' % pair for pair in tags.get(atom, [])]
        texts['bpm'] = [str(number) for number in tags.get('tmpo', [])]
        texts['compilation'] = ['1'] if tags.get('cpil') else []
        for index, cover in enumerate(tags.get('covr', [])):
            mime = 'image/png' if cover.imageformat == MP4Cover.FORMAT_PNG else 'image/jpeg'
            pictures.append(told(-1, mime, '', cover))
        # mutagen treats the movie's timescale as milliseconds.
        content = open(path, 'rb').read()
        scale = struct.unpack_from('>I', content, content.index(b'mvhd') + 16)[0]
        chapters += [{'start': round(c.start * scale), 'title': c.title} for c in file.chapters or []]
    elif name == 'FLAC' or name.startswith('Ogg'):
        for key in set(key.lower() for key in tags.keys()):
            texts[key] = list(tags[key])
        for key in ('track', 'disc'):
            if key + 'total' in texts:
                texts[key + 'number'] = [texts[key + 'number'][0] + '/' + texts.pop(key + 'total')[0]]
        blocks = [Picture(base64.b64decode(data)) for data in texts.pop('metadata_block_picture', [])]
        for block in blocks + list(getattr(file, 'pictures', [])):
            pictures.append(told(int(block.type), block.mime, block.desc, block.data))
        for key in sorted(key for key in texts if key.startswith('chapter') and len(key) == 10):
            hours, minutes, seconds = texts.pop(key)[0].split(':')
            start = round((int(hours) * 3600 + int(minutes) * 60 + float(seconds)) * 1000)
            chapters.append({'start': start, 'title': texts.pop(key + 'name')[0]})
    elif isinstance(tags, APEv2):
        back = {value.lower(): key for key, value in APE.items()}
        for key, value in tags.items():
            if key.lower().startswith('cover art'):
                description, data = value.value.split(b'\0', 1)
                kind = 4 if 'back' in key.lower() else 3
                mime = 'image/png' if data.startswith(b'\x89PNG') else 'image/jpeg'
                pictures.append(told(kind, mime, description.decode(), data))
            else:
                texts[back.get(key.lower(), key.lower())] = list(value)
    elif name == 'ASF':
        back = {value.lower(): key for key, value in WMA.items()}
        for key in set(tags.keys()):
            for value in tags[key]:
                if key == 'WM/Picture':
                    data = bytes(value.value)
                    kind, size = struct.unpack_from('<bi', data)
                    words = data[5:len(data) - size].decode('utf-16-le').split('\0')
                    pictures.append(told(kind, words[0], words[1], data[len(data) - size:]))
                else:
                    texts.setdefault(back.get(key.lower(), key.lower()), []).append(str(value))
    result['texts'] = {key: values for key, values in texts.items() if values}
    return result


def covers(jpeg, png):
    """The pictures for `tag`, from the paths of their files."""
    with open(jpeg, 'rb') as first, open(png, 'rb') as second:
        return [(3, 'image/jpeg', 'Вид ✓', first.read()), (4, 'image/png', 'Back', second.read())]


if __name__ == '__main__':
    if sys.argv[1] == 'tag':
        for path in sys.argv[4:]:
            tag(path, covers(*sys.argv[2:4]))
    else:
        print(json.dumps([read(path) for path in sys.argv[2:]]))
