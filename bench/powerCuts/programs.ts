/** What power cuts need besides the packages of tests: QEMU, and a kernel that is extracted from its package. */
import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { copyFile, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { exists } from "@sitewright/runtimes/folders.ts";

const run = promisify(execFile);

const programs = [
  { name: "qemu-system-x86_64", debianPackage: "qemu-system-x86" },
  { name: "mke2fs", debianPackage: "e2fsprogs" },
  { name: "dpkg", debianPackage: "dpkg" },
  { name: "apt-get", debianPackage: "apt" },
  { name: "mmdebstrap", debianPackage: "mmdebstrap" },
  { name: "bwrap", debianPackage: "bubblewrap" },
  { name: "php", debianPackage: "php-cli" },
];

/** Its packages are small, and the drivers that the machine needs are not modules. */
const kernelPackage = "linux-image-cloud-amd64";
const shellPackage = "busybox-static";

/** Throws with the names of the packages if programs are missing. */
export function requirePrograms(): void {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/sbin"];
  const missing = programs.filter(({ name }) => !folders.some((folder) => isExecutable(join(folder, name))));
  if (missing.length === 0) return;
  const packages = missing.map(({ debianPackage }) => debianPackage).join(" ");
  throw new Error(`Power cuts need programs that are not installed. Install them: apt-get install ${packages}`);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export interface GuestPrograms {
  readonly kernel: string;
  /** A statically linked BusyBox. */
  readonly busybox: string;
}

/** Downloads and extracts the programs of the virtual machine into a folder, once. Installs nothing. */
export async function guestPrograms(folder: string): Promise<GuestPrograms> {
  const found = { kernel: join(folder, "vmlinuz"), busybox: join(folder, "busybox") };
  if ((await exists(found.kernel)) && (await exists(found.busybox))) return found;
  await mkdir(folder, { recursive: true });
  const temporary = await mkdtemp(join(folder, "packages-"));
  try {
    const { stdout } = await run("apt-cache", ["depends", kernelPackage]);
    const [, kernel] = /Depends: (linux-image-\S+)/.exec(stdout) ?? [];
    if (kernel === undefined)
      throw new Error(`apt knows no package ${kernelPackage}. Update its lists: apt-get update`);
    await run("apt-get", ["--quiet=2", "download", kernel, shellPackage], { cwd: temporary });
    for (const file of await readdir(temporary)) await run("dpkg", ["--extract", file, "files"], { cwd: temporary });
    const boot = join(temporary, "files/boot");
    const [image = ""] = (await readdir(boot)).filter((name) => name.startsWith("vmlinuz-"));
    await copyFile(join(boot, image), found.kernel);
    await copyFile(await busyboxIn(join(temporary, "files")), found.busybox);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
  return found;
}

/** Older releases have it outside of `/usr`. */
async function busyboxIn(files: string): Promise<string> {
  const places = ["usr/bin/busybox", "bin/busybox"].map((place) => join(files, place));
  for (const place of places) if (await exists(place)) return place;
  throw new Error(`The package ${shellPackage} has no program busybox.`);
}
