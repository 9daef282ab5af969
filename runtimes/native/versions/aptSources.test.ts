import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { machineMirrors } from "./aptSources.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "apt-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(path.join(folder, "sources.list.d"));
});

const official = {
  main: { url: "http://deb.debian.org/debian", keyrings: [] },
  security: { url: "http://deb.debian.org/debian-security", keyrings: [] },
};

test("without sources, Debian's own archives are used", async () => {
  expect(machineMirrors(folder)).toEqual(official);
  expect(machineMirrors(path.join(folder, "nothing"))).toEqual(official);
});

test("mirrors are found in sources.list", async () => {
  const lines = [
    "# deb http://old.example/debian bookworm main",
    "deb-src http://source.example/debian bookworm main",
    "deb [arch=amd64 signed-by=/usr/share/keyrings/own.gpg] https://near.example/pub/debian/ bookworm main contrib # near",
    "deb http://near.example/debian-security bookworm-security main",
    "",
  ];
  await writeFile(path.join(folder, "sources.list"), lines.join("\n"));
  expect(machineMirrors(folder)).toEqual({
    main: { url: "https://near.example/pub/debian", keyrings: ["/usr/share/keyrings/own.gpg"] },
    security: { url: "http://near.example/debian-security", keyrings: [] },
  });
});

test("mirrors are found in files with paragraphs", async () => {
  const text = `Types: deb
URIs: http://disabled.example/debian
Suites: bookworm
Components: main
Enabled: no

# The next one is near.
Types: deb deb-src
URIs: http://near.example/debian
# A comment in between
Suites: bookworm
 bookworm-updates
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 mDMEY865UxYJKwYBBAHaRw8BAQdAd7Z0srwuhlB6JKFkcf4HU4SSS/xcRfwEQWzr
 -----END PGP PUBLIC KEY BLOCK-----

types: deb
uris: http://near.example/debian-security/
suites: bookworm-security
components: main
signed-by: /a.gpg, /b.gpg
`;
  await writeFile(path.join(folder, "sources.list.d/debian.sources"), text);
  expect(machineMirrors(folder)).toEqual({
    main: { url: "http://near.example/debian", keyrings: [] },
    security: { url: "http://near.example/debian-security", keyrings: ["/a.gpg", "/b.gpg"] },
  });
});

test.each([
  ["another publisher's", "deb https://packages.sury.example/php/ bookworm main"],
  ["another publisher's with the path of a mirror", "deb https://download.docker.example/linux/debian bookworm stable"],
  ["a list of mirrors", "deb mirror+file:/etc/apt/mirrors/debian bookworm main"],
  ["a disc", "deb cdrom:[Debian]/debian bookworm main"],
])("%s is not taken for a mirror of Debian", async (_, line) => {
  await writeFile(path.join(folder, "sources.list.d/other.list"), line);
  await writeFile(
    path.join(folder, "sources.list.d/other.list.disabled"),
    "deb http://off.example/debian bookworm main",
  );
  expect(machineMirrors(folder)).toEqual(official);
});
