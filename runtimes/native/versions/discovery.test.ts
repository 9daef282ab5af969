/** Programs that say which PHP they are, in folders made by hand. Real ones: `wordpress.playground.test.ts`. */
import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, open, readdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { makeRoot, neededModules } from "../testing/handMadeRoot.ts";
import { recordFolder } from "./addedRoots.ts";
import { discoverPhp, inspectRoots, machineRoot } from "./discovery.ts";
import type { PhpRoot } from "./installation.ts";

const isRoot = process.getuid?.() === 0;
const run = promisify(execFile);

const sentencesAbout = async (root: PhpRoot) => {
  const { offered, refused } = await inspectRoots([root]);
  expect(offered).toEqual([]);
  return refused;
};

async function recordFolderFor(...folders: readonly string[]): Promise<string> {
  const record = await mkdtemp(path.join(tmpdir(), "php-record-"));
  onTestFinished(() => rm(record, { recursive: true }));
  for (const folder of folders) await recordFolder(record, folder);
  return record;
}

test("a php-fpm with what WordPress needs is offered, with its command-line program", async () => {
  const root = await makeRoot();
  await root.php("8.3.7");
  const found = await inspectRoots([root]);
  expect(found).toEqual({
    offered: [
      {
        version: "8.3",
        fullVersion: "8.3.7",
        root: root.folder,
        place: root.place,
        fpm: "/usr/sbin/php-fpm8.3",
        php: "/usr/bin/php8.3",
        extensions: neededModules.map((name) => name.toLowerCase().replace("zend ", "")).toSorted(),
      },
    ],
    refused: [],
  });
});

test("a php-fpm is refused without a command-line program that could run WordPress", async () => {
  const refuse = (advice: string) => [
    `PHP 8.3 ${root.place} is not offered: it has no command-line program of PHP 8.3.7 with the same extensions. ${advice}`,
  ];
  const root = await makeRoot();
  await root.fpm("8.3.7");
  expect(await sentencesAbout(root)).toEqual(refuse("Install php8.3-cli."));
  await root.cli("8.3.6");
  expect(await sentencesAbout(root)).toEqual(refuse("Install php8.3-cli."));
  await root.cli("8.3.7", { modules: ["Core"] });
  expect(await sentencesAbout(root)).toEqual(refuse("Install php8.3-cli."));
  await root.cli("8.3.7", { file: "/usr/bin/php" });
  expect((await inspectRoots([root])).offered).toMatchObject([{ fullVersion: "8.3.7", php: "/usr/bin/php" }]);
});

test("several versions, at the places of Debian, Remi and a build, are found", async () => {
  const root = await makeRoot();
  await root.php("8.1.30");
  await root.fpm("8.3.7", { file: "/opt/remi/php83/root/usr/sbin/php-fpm" });
  await root.cli("8.3.7", { file: "/opt/remi/php83/root/usr/bin/php" });
  await root.fpm("8.4.2", { file: "/usr/local/sbin/php-fpm" });
  await root.cli("8.4.2", { file: "/usr/local/bin/php" });
  const { offered, refused } = await inspectRoots([root]);
  expect(refused).toEqual([]);
  expect(offered.map(({ version, fpm, php }) => [version, fpm, php])).toEqual([
    ["8.1", "/usr/sbin/php-fpm8.1", "/usr/bin/php8.1"],
    ["8.3", "/opt/remi/php83/root/usr/sbin/php-fpm", "/opt/remi/php83/root/usr/bin/php"],
    ["8.4", "/usr/local/sbin/php-fpm", "/usr/local/bin/php"],
  ]);
});

test("a program with several names is found once, through links within its folder", async () => {
  const root = await makeRoot();
  await root.php("8.3.7");
  await root.link("/etc/alternatives/php-fpm", "/usr/sbin/php-fpm8.3");
  await root.link("/usr/sbin/php-fpm", "/etc/alternatives/php-fpm");
  const { offered, refused } = await inspectRoots([root]);
  expect(refused).toEqual([]);
  expect(offered.map(({ fpm }) => fpm)).toEqual(["/usr/sbin/php-fpm8.3"]);
});

test("PHP finds its settings in its own folder, and none of this machine's", async () => {
  const root = await makeRoot();
  await root.program("/usr/bin/modules", "while read -r line; do echo $line; done < /etc/php/8.3/modules");
  const isAlone = `[ "$(echo /etc/php/*)" = /etc/php/8.3 ]`;
  const version = "for last; do :; done; [ $last = -v ] && echo 'PHP 8.3.7 (fpm-fcgi)' && exit";
  await root.program("/usr/sbin/php-fpm8.3", `${version}; ${isAlone} && exec sh /usr/bin/modules`);
  await mkdir(path.join(root.folder, "etc/php/8.3"), { recursive: true });
  await root.cli("8.3.7");
  await writeFile(path.join(root.folder, "etc/php/8.3/modules"), `${neededModules.join("\n")}\n`);
  expect((await inspectRoots([root])).offered).toMatchObject([{ fullVersion: "8.3.7" }]);
});

test("PHP before 8.1 is refused", async () => {
  const root = await makeRoot();
  await root.php("7.4.33");
  await root.php("8.0.30");
  const refused = [
    `PHP 7.4 ${root.place} is not offered: it is older than 8.1. Install a newer one.`,
    `PHP 8.0 ${root.place} is not offered: it is older than 8.1. Install a newer one.`,
  ];
  expect(await sentencesAbout(root)).toEqual(refused);
});

test("PHP without an extension is refused with the package that has it", async () => {
  const root = await makeRoot();
  await root.php(
    "8.3.7",
    neededModules.filter((name) => name !== "mbstring"),
  );
  const refused = `PHP 8.3 in ${root.folder} is not offered: it has no mbstring. Install php8.3-mbstring.`;
  expect(await sentencesAbout(root)).toEqual([refused]);
});

test("a folder that can't have PHP is refused", async () => {
  const folder = await recordFolderFor();
  const place = "there";
  const refuse = (reason: string) => [`PHP there is not offered: ${reason}`];
  const empty = refuse("it has no folder usr. Name a folder with a whole system.");
  expect(await sentencesAbout({ folder, place })).toEqual(empty);
  await symlink("/usr", path.join(folder, "usr"));
  expect(await sentencesAbout({ folder, place })).toEqual(empty);
  const file = path.join(folder, "file");
  await writeFile(file, "");
  expect(await sentencesAbout({ folder: file, place })).toEqual(
    refuse("it is not a folder. Name a folder that contains usr."),
  );
  expect(await sentencesAbout({ folder: path.join(folder, "gone"), place })).toEqual(
    refuse("the folder does not exist. Put it back, or remove it from the list."),
  );
  await rm(path.join(folder, "usr"));
  await mkdir(path.join(folder, "usr/sbin"), { recursive: true });
  expect(await sentencesAbout({ folder, place })).toEqual(refuse("it has no usr/sbin/php-fpm. Install php-fpm there."));
});

test("a symbolic link that leads out of the folder is not followed", async () => {
  const [root, other] = [await makeRoot(), await makeRoot()];
  await other.php("8.3.7");
  const refused = [
    `PHP ${root.place} is not offered: /usr/sbin/php-fpm8.3 is a symbolic link that leads out of /usr. Put the program itself there.`,
  ];
  await root.link("/usr/sbin/php-fpm8.3", path.join(other.folder, "usr/sbin/php-fpm8.3"));
  expect(await sentencesAbout(root)).toEqual(refused);
  // In the folder, but not where sites can see it.
  await rename(path.join(other.folder, "usr/sbin/php-fpm8.3"), path.join(root.folder, "php-fpm"));
  await rm(path.join(root.folder, "usr/sbin/php-fpm8.3"));
  await root.link("/usr/sbin/php-fpm8.3", "/php-fpm");
  expect(await sentencesAbout(root)).toEqual(refused);
});

test("settings that are a symbolic link out of the folder are not shown to PHP", async () => {
  const root = await makeRoot();
  const elsewhere = await recordFolderFor();
  await chmod(elsewhere, 0o755);
  await writeFile(path.join(elsewhere, "secret"), "");
  await root.link("/etc/php", elsewhere);
  await root.program("/usr/sbin/php-fpm8.3", "[ -e /etc/php/secret ] && echo 'the secret is shown' >&2; exit 1");
  expect(await sentencesAbout(root)).toEqual([
    `PHP ${root.place} is not offered: /usr/sbin/php-fpm8.3 does not start: it printed nothing`,
  ]);
});

test.each([
  [
    "fails",
    "echo 'error while loading shared libraries: libxml2.so.2' >&2; exit 127",
    /does not start: .*libxml2\.so\.2$/,
  ],
  ["is something else", "echo hello", /php-fpm8\.3 is not php-fpm\. Install php-fpm there\.$/],
  ["says that it is a command-line program", "echo 'PHP 8.3.7 (cli)'", /is not php-fpm\. Install/],
  ["never stops printing", "while :; do echo 0123456789012345678901234567890123456789; done", /printed too much/],
])("a program that %s is refused", async (_, script, reason) => {
  const root = await makeRoot();
  await root.program("/usr/sbin/php-fpm8.3", script);
  expect(await sentencesAbout(root)).toEqual([expect.stringMatching(reason)]);
});

test.runIf(isRoot)("a folder without setpriv is refused", async () => {
  const root = await makeRoot();
  await root.php("8.3.7");
  await rm(path.join(root.folder, "usr/bin/setpriv"));
  expect(await sentencesAbout(root)).toEqual([
    `PHP ${root.place} is not offered: it has no setpriv. Install util-linux there.`,
  ]);
});

test.runIf(isRoot).each([
  ["a library", /libcap-ng/, /^error while loading shared libraries: libcap-ng\.so\.0: .* No such file or directory$/],
  ["the loader of libraries", /ld-linux|ld64/, /^the program that loads its libraries is missing$/],
])("a folder whose setpriv lacks %s is refused, and setpriv is not said to be missing", async (_, library, reason) => {
  const root = await makeRoot();
  await root.php("8.3.7");
  const files = await readdir(root.folder, { recursive: true });
  const removed = files.filter((file) => library.test(file));
  expect(removed).not.toEqual([]);
  for (const file of removed) await rm(path.join(root.folder, file));
  const [sentence = ""] = await sentencesAbout(root);
  const [, found = ""] =
    /its setpriv does not start: (.*)\. Install util-linux and the C library there/.exec(sentence) ?? [];
  expect(found).toMatch(reason);
});

/** As in the header of a program for the processor of IBM's mainframes. */
const otherMachine = 22;

test.runIf(isRoot).each([
  ["with a shell", ["usr/bin/setpriv", "usr/bin/sh"]],
  ["without a shell", ["usr/bin/setpriv"]],
])("a folder with a system for another processor is refused: %s", async (_, files) => {
  const root = await makeRoot();
  await root.php("8.3.7");
  if (files.length === 1) await rm(path.join(root.folder, "usr/bin/sh"));
  for (const file of files) {
    const program = await open(path.join(root.folder, file), "r+");
    await program.write(Buffer.from([otherMachine, 0]), 0, 2, 18);
    await program.close();
  }
  expect(await sentencesAbout(root)).toEqual([
    `PHP ${root.place} is not offered: its programs are for another kind of processor. Name a folder with a system for ${process.arch}.`,
  ]);
});

test("a program that sites' users can't run is refused", async () => {
  const root = await makeRoot();
  await root.php("8.3.7");
  await chmod(path.join(root.folder, "usr/sbin/php-fpm8.3"), isRoot ? 0o700 : 0o600);
  expect(await sentencesAbout(root)).toEqual([
    `PHP ${root.place} is not offered: sites' users can't run /usr/sbin/php-fpm8.3. Let other users read it: chmod -R o+rX ${root.folder}/usr`,
  ]);
});

/** Runs `addPhp` on a copy of a folder that is mounted with these options. Returns what it prints. */
async function addMounted(root: PhpRoot, options: string): Promise<string> {
  const place = await recordFolderFor();
  const script = `mount -t tmpfs none "$1" && cp -a "$2/." "$1" && mount -o "remount,${options}" "$1" && exec "$3" "$4" "$5" "$1"`;
  const child = path.join(import.meta.dirname, "../testing/addPhp.ts");
  const parameters = [place, root.folder, process.execPath, child, await recordFolderFor()];
  const { stdout } = await run("unshare", ["--mount", "--", "sh", "-c", script, "sh", ...parameters]);
  return stdout.replaceAll(place, "/mounted");
}

test.runIf(isRoot)("a folder on a read-only file system is offered", async () => {
  const root = await makeRoot();
  await root.php("8.3.7");
  expect(JSON.parse(await addMounted(root, "ro"))).toMatchObject([{ fullVersion: "8.3.7", root: "/mounted" }]);
});

test.runIf(isRoot)("a folder on a file system from which nothing may be run is refused", async () => {
  const root = await makeRoot();
  await root.php("8.3.7");
  expect(await addMounted(root, "noexec")).toBe(
    "PHP in /mounted is not offered: its file system is mounted with noexec, so programs can't run there. " +
      "Mount it without that option, or move the folder.",
  );
});

test("of several PHPs of a version, the newest is offered, and of equal ones the first", async () => {
  const [older, newer, same] = [await makeRoot(), await makeRoot(), await makeRoot()];
  await older.php("8.9.9");
  await newer.php("8.9.10");
  await same.php("8.9.10");
  const record = await recordFolderFor(older.folder, newer.folder, same.folder);
  const { offered, refused } = await discoverPhp({ folder: record });
  expect(offered.filter(({ version }) => version === "8.9")).toMatchObject([
    { fullVersion: "8.9.10", root: newer.folder },
  ]);
  expect(refused.filter((sentence) => sentence.includes("8.9"))).toEqual([
    `PHP 8.9.9 ${older.place} is not offered: there is PHP 8.9.10 ${newer.place}.`,
    `PHP 8.9.10 ${same.place} is not offered: there is PHP 8.9.10 ${newer.place}.`,
  ]);
});

test("versions are in order, and this machine's are among them without being added", async () => {
  const [machine, found] = [await inspectRoots([machineRoot]), await discoverPhp({ folder: await recordFolderFor() })];
  expect(machine.offered.length).toBeGreaterThan(0);
  expect(found.offered).toEqual(machine.offered);
  const root = await makeRoot();
  for (const version of ["8.10.1", "8.1.99"]) await root.php(version);
  const { offered } = await discoverPhp({ folder: await recordFolderFor(root.folder) });
  expect(offered.map(({ version }) => version)).toEqual([
    "8.1",
    ...machine.offered.map(({ version }) => version),
    "8.10",
  ]);
});

test("a damaged record is reported", async () => {
  const record = await recordFolderFor();
  await writeFile(path.join(record, "folders.json"), "[1");
  await expect(discoverPhp({ folder: record })).rejects.toThrow(/folders\.json is damaged\. Remove it/);
});
