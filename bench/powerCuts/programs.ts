/** The programs for power cuts besides the test packages: QEMU, and a kernel that is extracted from its package. */
import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { copyFile, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { exists } from "@sitewright/runtimes/folders.ts";

const run = promisify(execFile);

interface Program {
  /** The command, and other names of it. */
  readonly names: readonly string[];
  readonly debianPackages: readonly string[];
}

const programs: readonly Program[] = [
  { names: ["qemu-system-x86_64"], debianPackages: ["qemu-system-x86"] },
  { names: ["mke2fs"], debianPackages: ["e2fsprogs"] },
  { names: ["dpkg"], debianPackages: ["dpkg"] },
  { names: ["apt-get"], debianPackages: ["apt"] },
  { names: ["mmdebstrap"], debianPackages: ["mmdebstrap", "debian-archive-keyring"] },
  { names: ["bwrap"], debianPackages: ["bubblewrap"] },
  {
    names: ["php-fpm", ...["8.5", "8.4", "8.3", "8.2", "8.1"].map((version) => `php-fpm${version}`)],
    debianPackages: ["php-fpm", "php-cli"],
  },
];

/** Its packages are small, and most drivers that the machine needs are not modules. */
const kernelPackage = "linux-image-cloud-amd64";
const shellPackage = "busybox-static";

/** Returns a sentence that names the Debian packages of missing programs, or null. */
export function missingPrograms(): string | null {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/sbin"];
  const isFound = (name: string) => folders.some((folder) => isExecutable(join(folder, name)));
  const missing = programs.filter(({ names }) => !names.some(isFound));
  if (missing.length === 0) return null;
  const packages = missing.flatMap(({ debianPackages }) => debianPackages).join(" ");
  return `programs are missing. Install them: apt-get install ${packages}`;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The drivers of the disk with the site, in the order of their dependencies. */
const modules = ["virtio_ring", "virtio", "virtio_pci_legacy_dev", "virtio_pci_modern_dev", "virtio_pci", "virtio_blk"];

export interface GuestPrograms {
  readonly kernel: string;
  /** Files of kernel modules, in the order in which they are loaded. */
  readonly modules: readonly string[];
  /** A statically linked BusyBox. */
  readonly busybox: string;
}

/** Downloads and extracts the programs of the virtual machine into a folder, once. Installs nothing. */
export async function guestPrograms(folder: string): Promise<GuestPrograms> {
  const place = (name: string) => join(folder, name);
  const found = {
    kernel: place("vmlinuz"),
    busybox: place("busybox"),
    modules: modules.map((name) => place(`${name}.ko`)),
  };
  const isComplete = await Promise.all([found.kernel, found.busybox, ...found.modules].map(exists));
  if (isComplete.every(Boolean)) return found;
  await mkdir(folder, { recursive: true });
  const temporary = await mkdtemp(join(folder, "packages-"));
  try {
    const { stdout } = await run("apt-cache", ["depends", kernelPackage]);
    const [, kernel] = /Depends: (linux-image-\S+)/.exec(stdout) ?? [];
    if (kernel === undefined)
      throw new Error(`apt knows no package ${kernelPackage}. Update its lists: apt-get update`);
    await run("apt-get", ["--quiet=2", "download", kernel, shellPackage], { cwd: temporary });
    for (const file of await readdir(temporary)) await run("dpkg", ["--extract", file, "files"], { cwd: temporary });
    await copyFound(join(temporary, "files"), folder);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
  return found;
}

/** Copies the kernel and its modules from the extracted packages, whose folders differ between releases. */
async function copyFound(extracted: string, folder: string): Promise<void> {
  const files = await readdir(extracted, { recursive: true });
  const copy = async (pattern: RegExp, name: string) => {
    const file = files.find((one) => pattern.test(one));
    if (file === undefined) throw new Error(`${kernelPackage} or ${shellPackage} has no file like ${pattern}.`);
    await copyFile(join(extracted, file), join(folder, name));
  };
  await copy(/^boot\/vmlinuz-/, "vmlinuz");
  await copy(/(^|\/)bin\/busybox$/, "busybox");
  for (const name of modules) await copy(new RegExp(`/${name}\\.ko$`), `${name}.ko`);
}
