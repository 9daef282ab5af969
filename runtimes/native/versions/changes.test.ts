import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { exists } from "../../folders.ts";
import { type HandMadeRoot, makeRoot } from "../testing/handMadeRoot.ts";
import { type Mirrors, machineMirrors } from "./aptSources.ts";
import { addPhp, removePhp } from "./changes.ts";
import { discoverPhp } from "./discovery.ts";
import { enableExtensions } from "./extensionFiles.ts";

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;
const child = path.join(import.meta.dirname, "../testing/addPhp.ts");

let folder: string;
let record: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "php-changes-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  record = path.join(folder, "php");
});

const signal = new AbortController().signal;
const add = (place: string, program?: string) =>
  addPhp(record, place, { mirrors: machineMirrors(), signal, ...(program !== undefined && { program }) });

/** The full versions that are offered because they were added. */
async function added(): Promise<readonly string[]> {
  const { offered } = await discoverPhp({ folder: record });
  return offered.filter(({ root }) => root !== "/").map(({ fullVersion }) => fullVersion);
}

const suites = async () => ((await exists(path.join(record, "suites"))) ? readdir(path.join(record, "suites")) : []);

/** Writes a program that behaves like mmdebstrap: this script runs with the folder to fill as `$target`. */
async function fakeMmdebstrap(script: string): Promise<string> {
  const file = path.join(folder, "mmdebstrap");
  const findTarget = "for word; do case $word in /*) target=$word; break ;; esac; done";
  await writeFile(file, `#!/bin/sh\n${findTarget}\n${script}\n`);
  await chmod(file, 0o755);
  return file;
}

const copyOf = (root: HandMadeRoot) => fakeMmdebstrap(`cp -a ${root.folder}/. "$target"`);

describe("folders", () => {
  test("a folder is offered until it is removed, and stays where it is", async () => {
    const root = await makeRoot();
    await root.php("8.9.1");
    expect(await add(root.folder)).toMatchObject([{ fullVersion: "8.9.1", root: root.folder }]);
    await add(root.folder);
    expect(await added()).toEqual(["8.9.1"]);
    expect(await removePhp(record, root.folder)).toEqual([root.folder]);
    expect(await added()).toEqual([]);
    expect(await exists(path.join(root.folder, "usr/sbin/php-fpm8.9"))).toBe(true);
  });

  test("a folder is removed by one of its versions, and others stay", async () => {
    const [one, other] = [await makeRoot(), await makeRoot()];
    await one.php("8.8.1");
    await one.php("8.9.1");
    await other.php("8.10.1");
    await Promise.all([add(one.folder), add(other.folder)]);
    expect(await added()).toEqual(["8.8.1", "8.9.1", "8.10.1"]);
    expect(await removePhp(record, "8.8")).toEqual([one.folder]);
    expect(await added()).toEqual(["8.10.1"]);
  });

  test("a folder that has vanished is removed by its path", async () => {
    const root = await makeRoot();
    await root.php("8.9.1");
    await add(root.folder);
    await rm(path.join(root.folder, "usr"), { recursive: true });
    expect((await discoverPhp({ folder: record })).refused).toEqual([expect.stringContaining(root.folder)]);
    await removePhp(record, root.folder);
    expect((await discoverPhp({ folder: record })).refused).toEqual([]);
  });

  test("a folder is recorded where it really is", async () => {
    const root = await makeRoot();
    await root.php("8.9.1");
    const link = path.join(folder, "link");
    await symlink(root.folder, link);
    expect(await add(link)).toMatchObject([{ root: root.folder }]);
  });

  test.each([
    ["a relative path", "./php", /^\.\/php is neither an absolute path nor the name of a release/],
    ["a version", "8.4", /^8\.4 is neither .* Name a folder such as \/opt\/php, or a release such as trixie\.$/],
    ["nothing", "", / is neither/],
    ["a path that leads to nothing", "/nowhere/php", /^\/nowhere\/php does not exist\. Check the path\.$/],
    ["this machine", "/usr/..", /^\/ is this machine itself/],
    ["a file", "/etc/hostname", /it is not a folder/],
    ["a folder without a system", "/dev", /has no folder usr/],
  ])("%s is refused, and nothing is recorded", async (_, place, reason) => {
    await expect(add(place)).rejects.toMatchObject({ name: "UnusableRoot", message: expect.stringMatching(reason) });
    expect(await exists(path.join(record, "folders.json"))).toBe(false);
  });

  test("a folder whose PHP is too old is refused, and not recorded", async () => {
    const root = await makeRoot();
    await root.php("7.4.33");
    await expect(add(root.folder)).rejects.toThrow(`PHP 7.4 in ${root.folder} is not offered: it is older than 8.1.`);
    expect((await discoverPhp({ folder: record })).refused).toEqual([]);
  });

  test.runIf(isRoot)("a folder that this user can't read is refused", async () => {
    const root = await makeRoot();
    await root.php("8.9.1");
    const nobody = 65_534;
    for (const each of [folder, root.folder]) await chmod(each, 0o711);
    await mkdir(record);
    await chown(record, nobody, nobody);
    const asNobody = ["--reuid=65534", "--regid=65534", "--clear-groups", process.execPath, child];
    const { stdout } = await run("setpriv", [...asNobody, record, root.folder]);
    expect(stdout).toBe(`PHP ${root.place} is not offered: this user can't read it. Change its permissions.`);
  });

  test.runIf(isRoot)("nothing can be added on a read-only file system", async () => {
    const root = await makeRoot();
    await mkdir(record);
    const script = 'mount --bind "$3" "$3" && mount -o remount,bind,ro "$3" && exec "$1" "$2" "$3" "$4"';
    const parameters = [process.execPath, child, record, root.folder];
    const { stdout } = await run("unshare", ["--mount", "--", "sh", "-c", script, "sh", ...parameters]);
    expect(stdout).toBe(`${record} is on a read-only file system. Mount it writable, or set SITEWRIGHT_DATA.`);
  });

  test("what was not added can't be removed", async () => {
    await expect(removePhp(record, "8.2")).rejects.toThrow(
      "8.2 was not added, so it can't be removed. Nothing was added.",
    );
    const root = await makeRoot();
    await root.php("8.9.1");
    await add(root.folder);
    await expect(removePhp(record, "trixie")).rejects.toThrow(`These were: ${root.folder}.`);
  });
});

describe("releases", () => {
  test("a release is extracted into the data folder, and removed from it", async () => {
    const root = await makeRoot();
    await root.php("8.9.1");
    expect(await add("trixie", await copyOf(root))).toMatchObject([
      { fullVersion: "8.9.1", root: path.join(record, "suites/trixie-1"), place: "of trixie" },
    ]);
    expect(await added()).toEqual(["8.9.1"]);
    expect(await removePhp(record, "8.9")).toEqual(["trixie"]);
    expect(await suites()).toEqual([]);
  });

  test("added again, a release is replaced, and the one that PHP may run from stays", async () => {
    for (const version of ["8.9.1", "8.9.2", "8.9.3"]) {
      const root = await makeRoot();
      await root.php(version);
      await add("trixie", await copyOf(root));
      expect(await added()).toEqual([version]);
    }
    expect(await suites()).toEqual(["trixie-2", "trixie-3"]);
  });

  test("a release whose PHP is too old is refused, and leaves nothing", async () => {
    const root = await makeRoot();
    await root.php("7.4.33");
    const reason = "PHP 7.4 of bullseye is not offered: it is older than 8.1. Install a newer one.";
    await expect(add("bullseye", await copyOf(root))).rejects.toThrow(reason);
    expect(await suites()).toEqual([]);
  });

  test("without mmdebstrap, the command that installs it is named", async () => {
    const reason = "Extracting a release of Debian needs mmdebstrap. Install it: apt-get install mmdebstrap";
    await expect(add("trixie", path.join(folder, "no-mmdebstrap"))).rejects.toThrow(reason);
    expect(await suites()).toEqual([]);
  });

  test.each([
    ["the key is missing", /^trixie could not be extracted from \S+: the key is missing$/],
    ["write (28: No space left on device)", /^The disk is full: .* Free some space, then try again\.$/],
  ])("a failure leaves nothing: %s", async (text, reason) => {
    const program = await fakeMmdebstrap(`mkdir $target/usr; echo 'E: ${text}' >&2; exit 1`);
    await expect(add("trixie", program)).rejects.toThrow(reason);
    expect(await suites()).toEqual([]);
  });

  const endless = (started: string) => `mkdir -p $target/usr/sbin; echo $$ > ${started}; exec sleep 300`;

  test("an extraction that is stopped leaves nothing", async () => {
    const started = path.join(folder, "started");
    const stop = new AbortController();
    const program = await fakeMmdebstrap(endless(started));
    const adding = addPhp(record, "trixie", { mirrors: machineMirrors(), signal: stop.signal, program });
    const refused = expect(adding).rejects.toThrow("Stopped. Nothing was added.");
    await expect.poll(() => exists(started)).toBe(true);
    stop.abort();
    await refused;
    expect(await suites()).toEqual([]);
  });

  test("an extraction that is killed is never offered, and the next change removes it", async () => {
    const started = path.join(folder, "started");
    const program = await fakeMmdebstrap(endless(started));
    const adding = spawn(process.execPath, [child, record, "trixie", program], { stdio: "ignore" });
    await expect.poll(() => readFile(started, "utf8").catch(() => "")).toMatch(/\d\n/);
    adding.kill("SIGKILL");
    await once(adding, "exit");
    process.kill(Number(await readFile(started, "utf8")), "SIGKILL");
    expect(await suites()).toEqual(["trixie.new"]);
    expect(await discoverPhp({ folder: record })).toEqual(await discoverPhp({ folder: path.join(folder, "none") }));
    const root = await makeRoot();
    await root.php("8.9.1");
    await add(root.folder);
    expect(await suites()).toEqual([]);
  });
});

describe("releases from a mirror", () => {
  /** Serves these files. */
  async function serve(files: Readonly<Record<string, string>>): Promise<Mirrors> {
    const server = createServer(({ url = "" }, answer) => {
      const content = files[url];
      answer.writeHead(content === undefined ? 404 : 200).end(content);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === "object" ? address?.port : 0;
    const mirror = (name: string) => ({ url: `http://127.0.0.1:${port}/${name}`, keyrings: [] });
    return { main: mirror("debian"), security: mirror("debian-security") };
  }

  test("a release that the mirror does not have is refused", async () => {
    const mirrors = await serve({});
    const reason = `${mirrors.main.url} has no release nosuch. Check the name, or name another mirror with --mirror.`;
    await expect(addPhp(record, "nosuch", { mirrors, signal })).rejects.toThrow(reason);
    expect(await suites()).toEqual([]);
  });

  const release = `Suite: trixie
Codename: trixie
Date: Thu, 26 Nov 2026 12:00:00 UTC
Architectures: amd64
Components: main
SHA256:
`;
  /** Of a key that is not Debian's. */
  const signature = `-----BEGIN PGP SIGNATURE-----

iHUEARYIAB0WIQTnG3H/Iw+xzPOA3lR2W8s8EplBDgUCawntHgAKCRB2W8s8EplB
DrATAP95mxrYEXlHlAFx/IsODI6admyGwjoqs6/onOdZZE8LTwD9Fo/yMDGgVQ5m
jehYNMpGbwIzGQGph+b4MykAfEobYwY=
=C+ya
-----END PGP SIGNATURE-----
`;

  test.each([
    ["without a signature", { Release: release }],
    [
      "with somebody else's signature",
      { InRelease: `-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n${release}${signature}` },
    ],
  ])("a release %s is refused", async (_, files) => {
    const dists = ["debian/dists/trixie", "debian/dists/trixie-updates", "debian-security/dists/trixie-security"];
    const served = dists.flatMap((dist) => Object.entries(files).map(([name, text]) => [`/${dist}/${name}`, text]));
    const mirrors = await serve(Object.fromEntries(served));
    const reason = /^trixie could not be extracted .* is not signed\.$/;
    await expect(addPhp(record, "trixie", { mirrors, signal })).rejects.toThrow(reason);
    expect(await suites()).toEqual([]);
  });
});

test("extensions of an extracted release are enabled in the order of their priorities", async () => {
  const share = path.join(folder, "usr/share");
  const extensions = [
    ["php8.9-common/common", "pdo.ini", "; priority=10\nextension=pdo.so\n"],
    ["php8.9-sqlite3/sqlite3", "pdo_sqlite.ini", "; comment\n; priority=20\nextension=pdo_sqlite.so\n"],
    ["php8.9-gd/gd", "gd.ini", "extension=gd.so\n"],
  ];
  for (const [place = "", name = "", text = ""] of extensions) {
    await mkdir(path.join(share, place), { recursive: true });
    await writeFile(path.join(share, place, name), text);
  }
  const [examples, settings] = [path.join(folder, "usr/lib/php/8.9"), path.join(folder, "etc/php/8.9")];
  for (const each of [examples, settings]) await mkdir(each, { recursive: true });
  await writeFile(path.join(examples, "php.ini-production"), "for fpm");
  await enableExtensions(folder);
  for (const program of ["fpm", "cli"]) {
    const links = path.join(settings, program, "conf.d");
    expect((await readdir(links)).toSorted()).toEqual(["10-pdo.ini", "20-gd.ini", "20-pdo_sqlite.ini"]);
    expect(await readlink(path.join(links, "10-pdo.ini"))).toBe("/etc/php/8.9/mods-available/pdo.ini");
  }
  expect(await readFile(path.join(settings, "mods-available/pdo.ini"), "utf8")).toContain("extension=pdo.so");
  expect(await readFile(path.join(settings, "fpm/php.ini"), "utf8")).toBe("for fpm");
});
