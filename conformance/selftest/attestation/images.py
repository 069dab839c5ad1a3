"""Vectors of the compose file (rule 2): every image is pinned by its digest. Each file is measured as it stands."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.selftest.attestation.forms import Files, Group, Test, accepted, refused
from conformance.selftest.attestation.sound_evidence import COMPOSE, DIGEST, SoundEvidence, identity

PIN = f"@sha256:{DIGEST}"
IMAGE = f"registry.example/node:1.0{PIN}"
SERVICE = f"services:\n  node:\n    image: {IMAGE}\n"


def groups(seed: bytes) -> list[Group]:
    """The group of the compose file."""
    sound = SoundEvidence(seed, identity(seed))
    return [sound.group("images", "Every image of the compose file is pinned", list(_tests(sound)))]


def _tests(sound: SoundEvidence) -> Iterator[Test]:
    def running(compose: str) -> Files:
        return sound.but(who=identity(sound.seed, compose))

    yield accepted("an image with tag and digest", running(COMPOSE))
    for comment, compose in SOUND.items():
        yield accepted(comment, running(compose), "Variant")
    for comment, image in UNPINNED.items():
        compose = f"services:\n  node:\n    image: {image}\n"
        yield refused("image-unpinned", f"image: {comment}", running(compose), "Unpinned")
    for comment, image in VARIABLES.items():
        compose = f"services:\n  node:\n    image: {image}\n"
        yield refused("image-variable", f"image: {comment}", running(compose), "Unpinned")
    for code, rows in OTHERS.items():
        for comment, compose in rows.items():
            flag = {"compose-ambiguous": "StrictYaml", "image-unsupported": "Unsupported"}.get(code, "Unpinned")
            yield refused(code, comment, running(compose), flag)


SOUND = {
    "an image without a tag": f"services:\n  node:\n    image: node{PIN}\n",
    "an image of a registry with a port": f"services:\n  node:\n    image: registry.example:5000/node{PIN}\n",
    "an image in double quotes": f'services:\n  node:\n    image: "{IMAGE}"\n',
    "an image in single quotes": f"services:\n  node:\n    image: '{IMAGE}'\n",
    "an image in a flow mapping": f'services: {{node: {{image: "{IMAGE}"}}}}\n',
    "an image on the next line": f"services:\n  node:\n    image:\n      {IMAGE}\n",
    "two services": f"{SERVICE}  proxy:\n    image: proxy{PIN}\n",
    "an alias of a pinned image": f"x-image: &pinned {IMAGE}\nservices:\n  node:\n    image: *pinned\n",
    "a comment that names another image": f"{SERVICE}    # image: node:latest\n",
    "an environment variable named image": f"{SERVICE}    environment:\n      image: node:latest\n",
    "volumes, ports and networks": (
        f'{SERVICE}    ports: ["80:80"]\n    volumes: ["data:/data"]\n'
        "volumes:\n  data: {}\nnetworks:\n  inner: {}\n"
    ),
}
UNPINNED = {
    "a tag alone": "registry.example/node:1.0",
    "neither tag nor digest": "node",
    "latest": "node:latest",
    "the digest in a comment": f"node:1.0 # {PIN}",
    "a digest of 63 digits": f"node@sha256:{DIGEST[:-1]}",
    "a digest of 65 digits": f"node@sha256:{DIGEST}0",
    "a digest of no digits": '"node@sha256:"',
    "a digest with a letter beyond f": f"node@sha256:g{DIGEST[1:]}",
    "a digest in upper case, which registries refuse": f"node@sha256:{DIGEST.upper()}",
    "a digest of SHA-512": f"node@sha512:{DIGEST * 2}",
    "a digest of MD5": f"node@md5:{DIGEST[:32]}",
    "a digest in front of the tag": f"node{PIN}:1.0",
    "a digest without its name": f"node@{DIGEST}",
    "a tag that looks like a digest": f"node:sha256-{DIGEST}",
    "a digest behind a blank": f'"node {PIN}"',
    "a digest with a blank behind it": f'"node{PIN} "',
    "two digests": f"node{PIN}{PIN}",
    "only a digest": f'"{PIN}"',
    "a list": f"[node{PIN}]",
    "a mapping": f"{{name: node{PIN}}}",
    "null": "null",
    "empty": '""',
    "a digest with a line feed behind it": f'"node{PIN}\\n"',
}
VARIABLES = {
    "a variable for the tag": "node:${TAG}",
    "a variable in front of a digest": f"${{REGISTRY}}/node{PIN}",
    "a variable for the whole image": "$IMAGE",
    "a default that is pinned": f"${{IMAGE:-node{PIN}}}",
    "a variable for the digest": "node@sha256:${DIGEST}",
}
OTHERS = {
    "image-unpinned": {
        "the second of two services": f"{SERVICE}  proxy:\n    image: proxy:1.0\n",
        "an alias of an image that is not pinned": "x-image: &tag node:1.0\nservices:\n  node:\n    image: *tag\n",
        "a merged service that is not pinned": (
            "x-base: &base\n  image: node:1.0\nservices:\n  node:\n    <<: *base\n    restart: always\n"
        ),
        "a service behind a profile": f"{SERVICE}  debug:\n    profiles: [debug]\n    image: shell:latest\n",
    },
    "compose-ambiguous": {
        "a second merge key, of a service that is not pinned": (
            f"x-a: &a {{image: {IMAGE}}}\nx-b: &b {{image: node:1.0}}\nservices:\n  node:\n    <<: *a\n    <<: *b\n"
        ),
        "a merge key in quotes": f"x-b: &b {{build: .}}\nservices:\n  node:\n    image: {IMAGE}\n    '<<': *b\n",
        "a merge tag on another key": (f"x-b: &b {{image: {IMAGE}}}\nservices:\n  node:\n    !!merge base: *b\n"),
        "image twice, the pinned one last": f"services:\n  node:\n    image: node:1.0\n    image: {IMAGE}\n",
        "image twice, the pinned one first": f"services:\n  node:\n    image: {IMAGE}\n    image: node:1.0\n",
        "services twice": f"services:\n  node:\n    image: node:1.0\n{SERVICE}",
        "the same service twice": f"{SERVICE}  node:\n    image: node:1.0\n",
        "an end of line that YAML 1.1 alone knows, in a comment": f"{SERVICE}  # proxy\x85  proxy: {{image: proxy}}\n",
        "a byte order mark inside the file": f"services:\n  node:\n\ufeff    image: {IMAGE}\n",
        "two documents": f"{SERVICE}---\nservices:\n  node:\n    image: node:1.0\n",
        "a tag of YAML on the image": f"services:\n  node:\n    image: !!binary {DIGEST}\n",
        "a tag of one's own": f"services:\n  node:\n    image: !reset {IMAGE}\n",
    },
    "compose-indirect": {
        "built from source": "services:\n  node:\n    build: .\n",
        "built from source under a pinned name": f"{SERVICE}    build: .\n",
        "extends a service of another file": "services:\n  node:\n    extends: {file: base.yaml, service: node}\n",
        "includes another file": f"include:\n  - more.yaml\n{SERVICE}",
    },
    "image-unsupported": {
        "a volume that is an image": f"{SERVICE}    volumes: [{{type: image, source: data, target: /data}}]\n",
        "a service that a provider runs": f"{SERVICE}  model:\n    provider: {{type: model}}\n",
        "models beside the services": f"{SERVICE}models:\n  chat: {{model: ai/chat}}\n",
    },
    "image-absent": {
        "a service without an image": f"{SERVICE}  proxy:\n    restart: always\n",
        "no services": "services: {}\n",
        "services is a list": f"services:\n  - image: {IMAGE}\n",
        "a service that is a text": "services:\n  node: image\n",
        "services is missing": "volumes:\n  data: {}\n",
    },
    "app-compose-malformed": {
        "the file is no YAML": "services: [\n",
        "the file is a text": "services\n",
        "the file is a list": "- services\n",
        "the file is indented by tabulators": f"services:\n\tnode:\n\t\timage: {IMAGE}\n",
        "the file is empty": " \n",
    },
}
