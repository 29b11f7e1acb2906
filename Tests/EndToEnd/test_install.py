"""What `make install` puts in place runs from there."""

import json
import os
import pathlib

import pytest
from sound import decode, same
from service import ROOT, check, equal, run

PARTS = ("respoold", "respool-transfer", "respool-transcode")


@pytest.mark.long
def test_what_make_install_puts_in_place_runs_from_there(service, audio, figures):
    place = pathlib.Path(service.folder) / "installed"
    run("make", "-C", ROOT, "install-built", f"DESTDIR={place}")
    found = sorted(str(path.relative_to(place)) for path in place.rglob("*") if path.is_file())
    equal(found, ["usr/local/bin/respool", *sorted(f"usr/local/libexec/respool/{part}" for part in PARTS)], "files")
    # The build's own folder must play no part, nor PATH, nor a name that leads there by a link.
    respool = f"{service.folder}/respool"
    os.symlink(place / "usr/local/bin/respool", respool)
    environment = {"PATH": "/usr/bin:/bin", "HOME": service.folder}
    formats = [json.loads(line) for line in run(respool, "formats", "--json", environment=environment).splitlines()]
    check(len(formats) >= 9, f"only {len(formats)} formats")
    check(b"mp3" in run(respool, "formats", environment=environment), "formats does not list mp3")
    sound = audio("a.wav", 3)
    run(respool, "convert", f"{service.sources}/a.wav", f"{service.folder}/a.flac", environment=environment)
    same(decode(f"{service.folder}/a.flac"), sound, "the converted file")
    piped = run(respool, "convert", f"{service.sources}/a.wav", "-", "--format", "flac", environment=environment)
    pathlib.Path(f"{service.folder}/piped.flac").write_bytes(piped)
    same(decode(f"{service.folder}/piped.flac"), sound, "what convert wrote to a pipe")
    probed = json.loads(run(respool, "probe", "--json", f"{service.folder}/a.flac", environment=environment))
    check("flac" in json.dumps(probed), f"probe says {probed}")
    run("make", "-C", ROOT, "uninstall", f"DESTDIR={place}")
    equal([path for path in place.rglob("*") if path.is_file()], [], "files after `make uninstall`")
    size = sum(path.stat().st_size for path in pathlib.Path(ROOT / ".build/release").glob("respool*") if path.name in
               ("respool", *PARTS))
    figures(f"{len(found)} files; formats, convert, convert to a pipe and probe ran from there ({size >> 20} MB before strip)")
