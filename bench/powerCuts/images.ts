/** The file systems of the virtual machine: a root with PHP and all that is read-only, and a disk with the site. */
import { execFile } from "node:child_process";
import { chmod, cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { platformFile } from "@sitewright/runtimes/native/environmentSandbox.ts";
import { settingLine } from "@sitewright/runtimes/native/settingLine.ts";
import type { PhpInstallation } from "@sitewright/runtimes/native/versions/installation.ts";
import { internalFolder, memoryFolder, platformFolder } from "@sitewright/runtimes/phpFolders.ts";
import { disabledFunctions, functionsReplacedBy, phpSettings } from "@sitewright/runtimes/phpSettings.ts";
import type { GuestPrograms } from "./programs.ts";
import type { PreparedSite } from "./site.ts";

const run = promisify(execFile);

const rootBytes = 1 << 30;
const diskBytes = 256 << 20;
/** Places in the virtual machine. */
const [sharedFolder, moduleFolder, settingsFolder] = ["/shared", "/shared/modules", "/shared/settings"];
const [diskFolder, filesFolder, script, ownFolder] = ["/disk", "files", "/insert.php", "/sitewright"];

const clone = fileURLToPath(new URL("../../", import.meta.url));
/** The source files that the program needs to replace files. */
const ownFiles = [
  "bench/package.json",
  "server/package.json",
  "server/durableFile.ts",
  "bench/powerCuts/replaceFiles.ts",
];

export interface Images {
  /** File of the root image. */
  readonly root: string;
  /** Content of the disk. */
  readonly disk: Buffer;
}

interface Parts {
  readonly php: PhpInstallation;
  readonly site: PreparedSite;
  readonly programs: GuestPrograms;
}

/** Makes both in a folder, which is on the file system of PHP's root. */
export async function makeImages({ php, site, programs }: Parts, folder: string): Promise<Images> {
  const [root, disk] = [join(folder, "root"), join(folder, "disk")];
  // Links: only mke2fs reads the files.
  await run("cp", ["--archive", "--link", php.root, root]);
  await mkdir(disk);
  for (const [index, { from, to, isWritable }] of site.mounts.entries())
    await copyTree(from, isWritable ? join(disk, to) : join(root, sharedFolder, String(index)));
  for (const { to } of site.mounts) await mkdir(join(isPart(to, site) ? disk : root, to), { recursive: true });
  await cp(platformFile("."), join(root, sharedFolder, "platform"), { recursive: true });
  await write(join(root, settingsFolder, "sitewright.ini"), settings());
  await cp(join(clone, "bench/powerCuts/insert.php"), join(root, script));
  await copyOwnCode(join(root, ownFolder));
  await mkdir(join(disk, filesFolder));
  for (const file of programs.modules) await cp(file, join(root, moduleFolder, basename(file)));
  const mountPoints = ["/proc", "/sys", "/dev", "/run", diskFolder, internalFolder, memoryFolder];
  for (const mountPoint of mountPoints) await mkdir(join(root, mountPoint), { recursive: true });
  await cp(programs.busybox, join(root, "busybox"));
  await chmod(join(root, "busybox"), 0o755);
  await write(join(root, "init"), init(php, site, programs), 0o755);
  return {
    root: await makeFileSystem(root, `${root}.ext4`, rootBytes),
    disk: await readFile(await makeFileSystem(disk, `${disk}.ext4`, diskBytes)),
  };
}

/** Whether the site's PHP sees a folder inside of another one. */
const isPart = (folder: string, { mounts }: PreparedSite): boolean =>
  mounts.some(({ to }) => folder.startsWith(`${to}/`));

async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await run("cp", ["--archive", from, to]);
}

/** With Node, and a workspace as npm makes it. */
async function copyOwnCode(folder: string): Promise<void> {
  for (const file of ownFiles) await cp(join(clone, file), join(folder, file));
  await cp(process.execPath, join(folder, "node"));
  await mkdir(join(folder, "node_modules/@sitewright"), { recursive: true });
  await symlink("../../server", join(folder, "node_modules/@sitewright/server"));
}

async function write(file: string, content: string, mode = 0o644): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content, { mode });
}

async function makeFileSystem(folder: string, file: string, bytes: number): Promise<string> {
  const complete = "lazy_itable_init=0,lazy_journal_init=0";
  await run("mke2fs", ["-q", "-t", "ext4", "-E", complete, "-d", folder, file, `${bytes / 1024}k`], {
    env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` },
  });
  return file;
}

/** As WP-CLI's. Nobody receives the messages of the platform's PHP. */
function settings(): string {
  const all = {
    ...phpSettings,
    disable_functions: [...disabledFunctions, ...functionsReplacedBy("mysqli")].join(","),
    auto_prepend_file: `${platformFolder}/plugin.php`,
  };
  return Object.entries(all)
    .map(([name, value]) => `${settingLine(name, value)}\n`)
    .join("");
}

/** The first program: mounts everything, then runs the writers until the power is cut. */
function init({ php }: PhpInstallation, { mounts, user }: PreparedSite, { modules }: GuestPrograms): string {
  const bind = mounts.map(({ to, isWritable }, index) =>
    isWritable ? `$b mount --bind ${diskFolder}${to} ${to}` : `$b mount --bind ${sharedFolder}/${index} ${to}`,
  );
  return `#!/busybox sh
b=/busybox
$b mount -t proc proc /proc
$b mount -t sysfs sys /sys
$b mount -t devtmpfs dev /dev
${modules.map((file) => `$b insmod ${moduleFolder}/${basename(file)}`).join("\n")}
$b mount -t ext4 /dev/vda ${diskFolder} || { echo "damaged file system" > /dev/ttyS1; exit; }
${["/run", memoryFolder, internalFolder].map((folder) => `$b mount -t tmpfs -o mode=1777 none ${folder}`).join("\n")}
${bind.join("\n")}
$b mkdir ${platformFolder}
$b mount --bind ${sharedFolder}/platform ${platformFolder}
echo null > ${internalFolder}/packageSource.json
$b chmod 666 /dev/ttyS1
echo "cache $($b cat /sys/block/vda/queue/write_cache), fua $($b cat /sys/block/vda/queue/fua)" > /dev/ttyS1
export PHP_INI_SCAN_DIR=:${settingsFolder} SITEWRIGHT_SOCKET=/run/none HOME=${memoryFolder} PATH=/usr/bin
php() { /usr/bin/setpriv --reuid=${user} --regid=${user} --clear-groups -- ${php} "$@"; }
end() { echo "ended $1" > /dev/ttyS1; }
for writer in $($b seq $writers); do { php ${script} $cycle $writer $synchronous; end rows; } & done
{ ${ownFolder}/node ${ownFolder}/bench/powerCuts/replaceFiles.ts $cycle ${diskFolder}/${filesFolder} $synchronous; end files; } &
wait
exec $b sleep 1000
`;
}
